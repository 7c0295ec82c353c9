mod do_while_statement;
mod for_statement;
mod while_statement;

pub(super) use self::{
    do_while_statement::DoWhileStatement, for_statement::ForStatement,
    while_statement::WhileStatement,
};
