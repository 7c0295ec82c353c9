//! gleaner: scopes with `using` declarations: their code is that of a `try` whose `finally` disposes.

use crate::bytecompiler::{
    ByteCompiler, Register,
    jump_control::JumpControlInfoFlags,
};
use boa_ast::{
    Declaration, StatementListItem,
    declaration::LexicalDeclaration,
};

/// A scope whose code is being compiled.
pub(crate) struct UsingScope {
    is_async: bool,
    handler: u32,
    /// The resources.
    stack: Register,
    /// Whether a generator is being returned from.
    returns: Register,
    jump_index: Register,
}

/// Whether the scope of these statements has `using` declarations, and whether one of them is an `await using`.
pub(crate) fn using_in<'a>(
    items: impl IntoIterator<Item = &'a StatementListItem>,
) -> Option<bool> {
    let mut found = None;
    for item in items {
        if let StatementListItem::Declaration(declaration) = item
            && let Declaration::Lexical(declaration) = declaration.as_ref()
        {
            found = found.max(using_of(declaration));
        }
    }
    found
}

/// As [`using_in`], of one declaration.
pub(crate) fn using_of(declaration: &LexicalDeclaration) -> Option<bool> {
    match declaration {
        LexicalDeclaration::Using(_) => Some(false),
        LexicalDeclaration::AwaitUsing(_) => Some(true),
        LexicalDeclaration::Let(_) | LexicalDeclaration::Const(_) => None,
    }
}

impl ByteCompiler<'_> {
    /// Begins the code of a scope.
    pub(crate) fn begin_using(&mut self, is_async: bool, use_expr: bool) -> UsingScope {
        let stack = self.register_allocator.alloc();
        let returns = self.register_allocator.alloc();
        let jump_index = self.register_allocator.alloc();
        self.bytecode.emit_create_disposables(stack.variable());
        self.bytecode.emit_store_false(returns.variable());
        self.bytecode.emit_store_zero(jump_index.variable());
        self.push_try_with_finally_control_info(&returns, &jump_index, use_expr);
        self.using_stacks.push(stack.index());
        UsingScope {
            is_async,
            handler: self.push_handler(),
            stack,
            returns,
            jump_index,
        }
    }

    /// Ends the code of a scope, and disposes of its resources.
    pub(crate) fn end_using(&mut self, scope: UsingScope) {
        let UsingScope {
            is_async,
            handler,
            stack,
            returns,
            jump_index,
        } = scope;
        self.using_stacks.pop();
        let done = self.jump();
        self.patch_handler(handler);

        let error = self.register_allocator.alloc();
        // As in `compile_try`: `Exception` throws again when a generator is returned from.
        let return_handler = self.push_handler();
        self.bytecode.emit_exception(error.variable());
        self.bytecode
            .emit_dispose_failed(stack.variable(), error.variable());
        let failed = self.jump();
        self.patch_handler(return_handler);
        self.bytecode.emit_store_true(returns.variable());
        self.patch_jump(failed);
        self.patch_jump(done);

        let finally_start = self.next_opcode_location();
        self.jump_info
            .last_mut()
            .expect("it was pushed at the beginning of the scope")
            .flags |= JumpControlInfoFlags::IN_FINALLY;
        let completion = self.register_allocator.alloc();
        self.bytecode
            .emit_set_register_from_accumulator(completion.variable());
        let value = self.register_allocator.alloc();
        let waits = self.register_allocator.alloc();
        let next = self.next_opcode_location();
        self.bytecode
            .emit_dispose_next(stack.variable(), value.variable(), waits.variable());
        if is_async {
            let exit = self.jump_if_false(&waits);
            let await_handler = self.push_handler();
            self.compile_await(&value);
            self.bytecode.emit_jump(next);
            self.patch_handler(await_handler);
            self.bytecode.emit_exception(error.variable());
            self.bytecode
                .emit_dispose_failed(stack.variable(), error.variable());
            self.bytecode.emit_jump(next);
            self.patch_jump(exit);
        }
        self.register_allocator.dealloc(waits);
        self.register_allocator.dealloc(value);
        self.bytecode.emit_set_accumulator(completion.variable());
        self.register_allocator.dealloc(completion);
        self.register_allocator.dealloc(error);
        let goes_on = self.jump_if_false(&returns);
        self.bytecode.emit_re_throw();
        self.patch_jump(goes_on);
        self.pop_try_with_finally_control_info(finally_start);
        self.register_allocator.dealloc(jump_index);
        self.register_allocator.dealloc(returns);
        self.register_allocator.dealloc(stack);
    }

    /// Adds a resource to the innermost scope.
    pub(crate) fn add_disposable(&mut self, value: &Register, is_async: bool) {
        if let Some(stack) = self.using_stacks.last().copied() {
            self.bytecode
                .emit_add_disposable(stack.into(), value.variable(), is_async.into());
        }
    }

    /// Awaits what is in a register, which then holds the result.
    pub(crate) fn compile_await(&mut self, value: &Register) {
        self.bytecode.emit_await(value.variable());
        let resume_kind = self.register_allocator.alloc();
        self.pop_into_register(&resume_kind);
        self.pop_into_register(value);
        self.generator_next(value, &resume_kind);
        self.register_allocator.dealloc(resume_kind);
    }
}
