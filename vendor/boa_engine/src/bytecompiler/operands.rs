//! gleaner: operands that are the registers of local variables, and branches of conditions.

use super::{BindingKind, ByteCompiler, Label, Register, position_of};
use crate::vm::opcode::RegisterOperand;
use boa_ast::{
    Expression,
    expression::{
        Identifier,
        access::{PropertyAccess, PropertyAccessField},
        literal::TemplateElement,
        operator::{
            assign::AssignTarget,
            binary::{BinaryOp, LogicalOp},
            unary::UnaryOp,
            update::UpdateTarget,
        },
    },
};

/// Expressions that are looked through for assignments at each operand.
const LOOKED_THROUGH_MAX: u32 = 48;

/// Whether what an expression evaluates does not assign to the variable, as far as that is seen at once.
///
/// The functions it calls cannot: a variable that they know is no local one.
fn leaves(expr: &Expression, name: Identifier, left: &mut u32) -> bool {
    let Some(fewer) = left.checked_sub(1) else { return false };
    *left = fewer;
    let mut all = |list: &[Expression]| list.iter().all(|expr| leaves(expr, name, left));
    match expr {
        Expression::This(_)
        | Expression::Identifier(_)
        | Expression::Literal(_)
        | Expression::RegExpLiteral(_)
        | Expression::FunctionExpression(_)
        | Expression::ArrowFunction(_)
        | Expression::AsyncArrowFunction(_)
        | Expression::GeneratorExpression(_)
        | Expression::AsyncFunctionExpression(_)
        | Expression::AsyncGeneratorExpression(_)
        | Expression::NewTarget(_) => true,
        Expression::Parenthesized(inner) => leaves(inner.expression(), name, left),
        Expression::Spread(spread) => leaves(spread.target(), name, left),
        Expression::Unary(unary) => leaves(unary.target(), name, left),
        Expression::Binary(binary) => leaves(binary.lhs(), name, left) && leaves(binary.rhs(), name, left),
        Expression::Conditional(op) => {
            leaves(op.condition(), name, left) && leaves(op.if_true(), name, left) && leaves(op.if_false(), name, left)
        }
        Expression::PropertyAccess(access) => leaves_access(access, name, left),
        Expression::Call(call) => all(call.args()) && leaves(call.function(), name, left),
        Expression::New(new) => all(new.arguments()) && leaves(new.constructor(), name, left),
        Expression::ArrayLiteral(array) => array.as_ref().iter().flatten().all(|expr| leaves(expr, name, left)),
        Expression::TemplateLiteral(template) => template.elements().iter().all(|element| match element {
            TemplateElement::String(_) => true,
            TemplateElement::Expr(expr) => leaves(expr, name, left),
        }),
        Expression::Update(update) => match update.target() {
            UpdateTarget::Identifier(target) => target.sym() != name.sym(),
            UpdateTarget::PropertyAccess(access) => leaves_access(access, name, left),
        },
        Expression::Assign(assign) => {
            let target = match assign.lhs() {
                AssignTarget::Identifier(target) => target.sym() != name.sym(),
                AssignTarget::Access(access) => leaves_access(access, name, left),
                AssignTarget::Pattern(_) => false,
            };
            target && leaves(assign.rhs(), name, left)
        }
        _ => false,
    }
}

fn leaves_access(access: &PropertyAccess, name: Identifier, left: &mut u32) -> bool {
    let (target, field) = match access {
        PropertyAccess::Simple(access) => (Some(access.target()), Some(access.field())),
        PropertyAccess::Private(access) => (Some(access.target()), None),
        PropertyAccess::Super(access) => (None, Some(access.field())),
    };
    target.is_none_or(|target| leaves(target, name, left))
        && match field {
            Some(PropertyAccessField::Expr(field)) => leaves(field, name, left),
            _ => true,
        }
}

/// Whether an expression writes to its register at its end only, after all that it reads and all that it may throw.
pub(super) fn writes_last(expr: &Expression) -> bool {
    match expr {
        Expression::Literal(_) | Expression::Identifier(_) | Expression::Call(_) | Expression::New(_) => true,
        Expression::PropertyAccess(PropertyAccess::Simple(_)) => true,
        Expression::Parenthesized(inner) => writes_last(inner.expression()),
        Expression::Binary(binary) => {
            matches!(binary.op(), BinaryOp::Arithmetic(_) | BinaryOp::Bitwise(_) | BinaryOp::Relational(_))
        }
        _ => false,
    }
}

impl ByteCompiler<'_> {
    /// The operand of an expression that is used after `later` have been evaluated: the register of a local variable only if none of them
    /// assigns to it.
    pub(crate) fn compile_operand_before(
        &mut self,
        expr: &Expression,
        later: &[&Expression],
        inner_fn: impl FnOnce(&mut Self, RegisterOperand),
    ) {
        let stays = match expr.flatten() {
            Expression::Identifier(name) => {
                let mut left = LOOKED_THROUGH_MAX;
                later.iter().all(|expr| leaves(expr, *name, &mut left))
            }
            _ => true,
        };
        if stays {
            return self.compile_expr_operand(expr, inner_fn);
        }
        let reg = self.register_allocator.alloc();
        self.compile_expr(expr, &reg);
        let op = reg.variable();
        inner_fn(self, op);
        self.register_allocator.dealloc(reg);
    }

    /// The operands of an object and of a key, which are used after `later` has been evaluated.
    pub(crate) fn compile_operands_before(
        &mut self,
        object: &Expression,
        key: &Expression,
        later: Option<&Expression>,
        inner_fn: impl FnOnce(&mut Self, RegisterOperand, RegisterOperand),
    ) {
        let after_key: &[&Expression] = later.as_slice();
        let after_object: &[&Expression] = match later {
            Some(later) => &[key, later],
            None => &[key],
        };
        self.compile_operand_before(object, after_object, |compiler, object| {
            compiler.compile_operand_before(key, after_key, |compiler, key| inner_fn(compiler, object, key));
        });
    }

    /// The register of a local variable that may be assigned to.
    pub(crate) fn assignable_local(&mut self, name: Identifier) -> Option<Register> {
        let name = self.resolve_identifier_expect(name);
        let binding = self.lexical_scope.get_identifier_reference(name.clone());
        if binding.is_lexical() && self.lexical_scope.set_mutable_binding(name).is_err() {
            return None;
        }
        match self.get_binding(&binding) {
            BindingKind::Local(Some(register)) => Some(Register::persistent(register)),
            _ => None,
        }
    }

    /// Where to evaluate what is assigned to a local variable: in its own register, if the expression writes to that last.
    pub(crate) fn local_to_write(&mut self, name: Identifier, expr: &Expression) -> Option<Register> {
        if !writes_last(expr) {
            return None;
        }
        self.assignable_local(name)
    }

    /// Whether an expression does not assign to the variable.
    pub(crate) fn leaves_variable(name: Identifier, expr: &Expression) -> bool {
        let mut left = LOOKED_THROUGH_MAX;
        leaves(expr, name, &mut left)
    }

    /// Emits jumps that are taken if the condition is not what is said; each falls through otherwise.
    pub(crate) fn branch(&mut self, condition: &Expression, unless: bool, exits: &mut Vec<Label>) {
        match condition {
            Expression::Parenthesized(inner) => self.branch(inner.expression(), unless, exits),
            Expression::Unary(unary) if unary.op() == UnaryOp::Not => self.branch(unary.target(), !unless, exits),
            Expression::Binary(binary) if matches!(binary.op(), BinaryOp::Logical(LogicalOp::And | LogicalOp::Or)) => {
                // `a && b` is left at either if it has to be true, `a || b` if it has to be false.
                let is_and = binary.op() == BinaryOp::Logical(LogicalOp::And);
                if is_and == unless {
                    self.branch(binary.lhs(), unless, exits);
                    self.branch(binary.rhs(), unless, exits);
                } else {
                    let mut decided = Vec::new();
                    self.branch(binary.lhs(), !unless, &mut decided);
                    self.branch(binary.rhs(), unless, exits);
                    for label in decided {
                        self.patch_jump(label);
                    }
                }
            }
            Expression::Binary(binary)
                if unless
                    && let BinaryOp::Relational(op) = binary.op()
                    && let Some(label) = {
                        let before = position_of(condition).map(|position| self.set_source_position(Some(position)));
                        let label = self.try_fused_comparison_branch(op, binary, None);
                        if let Some(before) = before {
                            self.set_source_position(before);
                        }
                        label
                    } =>
            {
                exits.push(label);
            }
            _ => self.compile_expr_operand(condition, |compiler, value| {
                let index = compiler.next_opcode_location();
                if unless {
                    compiler.bytecode.emit_jump_if_false(Self::DUMMY_ADDRESS, value);
                } else {
                    compiler.bytecode.emit_jump_if_true(Self::DUMMY_ADDRESS, value);
                }
                exits.push(Label { index });
            }),
        }
    }
}
