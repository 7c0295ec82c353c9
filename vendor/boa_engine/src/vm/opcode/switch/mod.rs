use super::RegisterOperand;
use crate::{
    Context,
    vm::opcode::{Address, Operation},
};

/// `Case` implements the Opcode Operation for `Opcode::Case`
///
/// Operation:
///  - Pop the two values of the stack, strict equal compares the two values,
///    if true jumps to address, otherwise push the second pop'ed value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case;

impl Case {
    #[inline(always)]
    pub(super) fn operation(
        (address, value, condition): (Address, RegisterOperand, RegisterOperand),
        context: &mut Context,
    ) {
        let value = context.vm.get_register(value.into());
        let condition = context.vm.get_register(condition.into());
        if value.strict_equals(condition) {
            context.vm.frame_mut().pc = u32::from(address);
        }
    }
}

impl Operation for Case {
    const NAME: &'static str = "Case";
    const INSTRUCTION: &'static str = "INST - Case";
    const COST: u8 = 2;
}

/// gleaner: `CaseInt` implements the Opcode Operation for `Opcode::CaseInt`
///
/// Operation:
///  - Jump to the address if the value is the number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CaseInt;

impl CaseInt {
    #[inline(always)]
    pub(super) fn operation((address, value, number): (Address, RegisterOperand, i32), context: &mut Context) {
        let value = context.vm.get_register(value.into());
        if value.as_i32() == Some(number) || value.as_number() == Some(f64::from(number)) {
            context.vm.frame_mut().pc = u32::from(address);
        }
    }
}

impl Operation for CaseInt {
    const NAME: &'static str = "CaseInt";
    const INSTRUCTION: &'static str = "INST - CaseInt";
    const COST: u8 = 3;
}
