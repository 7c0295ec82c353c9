use crate::{
    bytecompiler::{Access, BindingAccessOpcode, ByteCompiler, Label, Register, ToJsString},
    vm::opcode::BindingOpcode,
};
use boa_ast::{
    Expression,
    expression::{
        access::{PropertyAccess, PropertyAccessField},
        operator::{
            Assign,
            assign::{AssignOp, AssignTarget},
        },
    },
    scope::BindingLocatorError,
};

impl ByteCompiler<'_> {
    /// gleaner: an assignment to a local variable whose value is evaluated where the variable is; false if it is not one.
    pub(crate) fn compile_assign_to_local(&mut self, assign: &Assign, dst: Option<&Register>) -> bool {
        let AssignTarget::Identifier(name) = assign.lhs() else {
            return false;
        };
        let local = match assign.op() {
            AssignOp::Assign => self.local_to_write(*name, assign.rhs()),
            AssignOp::BoolAnd | AssignOp::BoolOr | AssignOp::Coalesce => None,
            _ if Self::leaves_variable(*name, assign.rhs()) => self.assignable_local(*name),
            _ => None,
        };
        let Some(local) = local else { return false };
        let before = self.set_source_position(Some(assign.position()));
        if assign.op() == AssignOp::Assign {
            self.compile_expr(assign.rhs(), &local);
        } else {
            self.compile_operation(assign.op(), &local, assign.rhs());
        }
        if let Some(dst) = dst {
            self.bytecode.emit_move(dst.variable(), local.variable());
        }
        self.set_source_position(before);
        true
    }

    /// gleaner: `dst = dst op expr`.
    fn compile_operation(&mut self, op: AssignOp, dst: &Register, expr: &Expression) {
        let dst = dst.variable();
        self.compile_expr_operand(expr, |compiler, rhs| {
            let bytecode = &mut compiler.bytecode;
            match op {
                AssignOp::Add => bytecode.emit_add(dst, dst, rhs),
                AssignOp::Sub => bytecode.emit_sub(dst, dst, rhs),
                AssignOp::Mul => bytecode.emit_mul(dst, dst, rhs),
                AssignOp::Div => bytecode.emit_div(dst, dst, rhs),
                AssignOp::Mod => bytecode.emit_mod(dst, dst, rhs),
                AssignOp::Exp => bytecode.emit_pow(dst, dst, rhs),
                AssignOp::And => bytecode.emit_bit_and(dst, dst, rhs),
                AssignOp::Or => bytecode.emit_bit_or(dst, dst, rhs),
                AssignOp::Xor => bytecode.emit_bit_xor(dst, dst, rhs),
                AssignOp::Shl => bytecode.emit_shift_left(dst, dst, rhs),
                AssignOp::Shr => bytecode.emit_shift_right(dst, dst, rhs),
                AssignOp::Ushr => bytecode.emit_unsigned_shift_right(dst, dst, rhs),
                AssignOp::Assign | AssignOp::BoolAnd | AssignOp::BoolOr | AssignOp::Coalesce => unreachable!(),
            }
        });
    }

    pub(crate) fn compile_assign(&mut self, assign: &Assign, dst: &Register) {
        if self.compile_assign_to_local(assign, Some(dst)) {
            return;
        }
        let compiler = &mut *self;

        if assign.op() == AssignOp::Assign {
            match Access::from_assign_target(assign.lhs()) {
                Ok(access) => {
                    compiler.access_set(access, Some(assign.rhs()), |compiler| {
                        compiler.compile_expr(assign.rhs(), dst);
                        dst
                    });
                }
                Err(pattern) => {
                    compiler.compile_expr(assign.rhs(), dst);
                    compiler.compile_declaration_pattern(pattern, BindingOpcode::SetName, dst);
                }
            }
        } else {
            let access = Access::from_assign_target(assign.lhs())
                .expect("patterns should throw early errors on complex assignment operators");

            let short_circuit = matches!(
                assign.op(),
                AssignOp::BoolAnd | AssignOp::BoolOr | AssignOp::Coalesce
            );

            let emit = |compiler: &mut Self,
                        dst: &Register,
                        expr: &Expression,
                        op: AssignOp|
             -> Option<Label> {
                if short_circuit {
                    let next = compiler.next_opcode_location();
                    match op {
                        AssignOp::BoolAnd => compiler
                            .bytecode
                            .emit_logical_and(Self::DUMMY_ADDRESS, dst.variable()),
                        AssignOp::BoolOr => compiler
                            .bytecode
                            .emit_logical_or(Self::DUMMY_ADDRESS, dst.variable()),
                        AssignOp::Coalesce => compiler
                            .bytecode
                            .emit_coalesce(Self::DUMMY_ADDRESS, dst.variable()),
                        _ => unreachable!(),
                    }
                    compiler.compile_expr(expr, dst);
                    Some(Label { index: next })
                } else {
                    compiler.compile_operation(op, dst, expr);
                    None
                }
            };

            let early_exit;

            match access {
                Access::Variable { name } => {
                    let name = name.to_js_string(compiler.interner());

                    let binding = compiler
                        .lexical_scope
                        .get_identifier_reference(name.clone());
                    let is_lexical = binding.is_lexical();
                    let index = compiler.get_binding(&binding);

                    if is_lexical {
                        compiler.emit_binding_access(BindingAccessOpcode::GetName, &index, dst);
                    } else {
                        compiler.emit_binding_access(
                            BindingAccessOpcode::GetNameAndLocator,
                            &index,
                            dst,
                        );
                    }

                    early_exit = emit(compiler, dst, assign.rhs(), assign.op());

                    if is_lexical {
                        match compiler.lexical_scope.set_mutable_binding(name.clone()) {
                            Ok(binding) => {
                                let index = compiler.insert_binding(binding);
                                compiler.emit_binding_access(
                                    BindingAccessOpcode::SetName,
                                    &index,
                                    dst,
                                );
                            }
                            Err(BindingLocatorError::MutateImmutable) => {
                                let index = compiler.get_or_insert_string(name);
                                compiler.bytecode.emit_throw_mutate_immutable(index.into());
                            }
                            Err(BindingLocatorError::Silent) => {}
                        }
                    } else {
                        compiler.emit_binding_access(
                            BindingAccessOpcode::SetNameByLocator,
                            &index,
                            dst,
                        );
                    }
                }
                Access::Property { access } => match access {
                    PropertyAccess::Simple(access) => match access.field() {
                        PropertyAccessField::Const(name) => {
                            let mut exit = None;
                            compiler.compile_operand_before(access.target(), &[assign.rhs()], |compiler, object| {
                                compiler.emit_get_property_by_name(dst, None, object, name.sym());
                                exit = emit(compiler, dst, assign.rhs(), assign.op());
                                compiler.emit_set_property_by_name(dst, None, object, name.sym());
                            });
                            early_exit = exit;
                        }
                        PropertyAccessField::Expr(expr) => {
                            let object = compiler.register_allocator.alloc();
                            compiler.compile_expr(access.target(), &object);

                            let key = compiler.register_allocator.alloc();
                            compiler.compile_expr(expr, &key);

                            compiler.bytecode.emit_get_property_by_value_push(
                                dst.variable(),
                                key.variable(),
                                object.variable(),
                                object.variable(),
                            );

                            early_exit = emit(compiler, dst, assign.rhs(), assign.op());

                            compiler.bytecode.emit_set_property_by_value(
                                dst.variable(),
                                key.variable(),
                                object.variable(),
                                object.variable(),
                            );

                            compiler.register_allocator.dealloc(key);
                            compiler.register_allocator.dealloc(object);
                        }
                    },
                    PropertyAccess::Private(access) => {
                        let index = compiler.get_or_insert_private_name(access.field());

                        let object = compiler.register_allocator.alloc();
                        compiler.compile_expr(access.target(), &object);

                        compiler.bytecode.emit_get_private_field(
                            dst.variable(),
                            object.variable(),
                            index.into(),
                        );

                        early_exit = emit(compiler, dst, assign.rhs(), assign.op());

                        compiler.bytecode.emit_set_private_field(
                            dst.variable(),
                            object.variable(),
                            index.into(),
                        );

                        compiler.register_allocator.dealloc(object);
                    }
                    PropertyAccess::Super(access) => match access.field() {
                        PropertyAccessField::Const(name) => {
                            let object = compiler.register_allocator.alloc();
                            let receiver = compiler.register_allocator.alloc();
                            compiler.super_(&receiver, &object);

                            compiler.emit_get_property_by_name(
                                dst,
                                Some(&receiver),
                                object.variable(),
                                name.sym(),
                            );

                            early_exit = emit(compiler, dst, assign.rhs(), assign.op());

                            compiler.emit_set_property_by_name(
                                dst,
                                Some(&receiver),
                                object.variable(),
                                name.sym(),
                            );

                            compiler.register_allocator.dealloc(receiver);
                            compiler.register_allocator.dealloc(object);
                        }
                        PropertyAccessField::Expr(expr) => {
                            let object = compiler.register_allocator.alloc();
                            let receiver = compiler.register_allocator.alloc();
                            compiler.super_(&receiver, &object);

                            let key = compiler.register_allocator.alloc();
                            compiler.compile_expr(expr, &key);

                            compiler.bytecode.emit_get_property_by_value_push(
                                dst.variable(),
                                key.variable(),
                                receiver.variable(),
                                object.variable(),
                            );

                            early_exit = emit(compiler, dst, assign.rhs(), assign.op());

                            compiler.bytecode.emit_set_property_by_value(
                                dst.variable(),
                                key.variable(),
                                receiver.variable(),
                                object.variable(),
                            );

                            compiler.register_allocator.dealloc(key);
                            compiler.register_allocator.dealloc(receiver);
                            compiler.register_allocator.dealloc(object);
                        }
                    },
                },
                Access::This => unreachable!(),
            }

            if let Some(early_exit) = early_exit {
                let skip = compiler.jump();
                compiler.patch_jump(early_exit);
                compiler.patch_jump(skip);
            }
        }
    }
}
