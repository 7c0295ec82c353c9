use crate::bytecompiler::ByteCompiler;
use boa_ast::statement::If;

impl ByteCompiler<'_> {
    pub(crate) fn compile_if(&mut self, node: &If, use_expr: bool) {
        // gleaner: nothing is jumped over that is not there.
        let Some(else_body) = node.else_node() else {
            let exits = self.compile_condition_and_branch(node.cond(), None);
            self.compile_stmt(node.body(), use_expr, true);
            return self.patch_exits(exits);
        };
        self.compile_if_else(
            node.cond(),
            |compiler| compiler.compile_stmt(node.body(), use_expr, true),
            |compiler| compiler.compile_stmt(else_body, use_expr, true),
        );
    }
}
