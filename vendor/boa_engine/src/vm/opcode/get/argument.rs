use crate::{
    Context, JsValue,
    vm::opcode::{IndexOperand, Operation, RegisterOperand},
};

/// `GetArgument` implements the Opcode Operation for `Opcode::GetArgument`
///
/// Operation:
///  - Get i-th argument of the current frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GetArgument;

impl GetArgument {
    #[inline(always)]
    pub(crate) fn operation((index, dst): (IndexOperand, RegisterOperand), context: &mut Context) {
        let (frame, index) = (context.vm.frame(), usize::from(index));
        let value = if index < frame.argument_count as usize {
            context.vm.stack.stack[frame.arguments_range().start + index].clone()
        } else {
            JsValue::undefined()
        };
        context.vm.set_register(dst.into(), value);
    }
}

impl Operation for GetArgument {
    const NAME: &'static str = "GetArgument";
    const INSTRUCTION: &'static str = "INST - GetArgument";
    const COST: u8 = 2;
}
