# Trampolines of device functions, System V calling convention.
#
# Slot n loads its number and jumps to dctx_device_enter, which keeps the registers that may hold
# arguments in a CallFrame (device_abi.hpp), asks dctx_device_before what to call, calls it with the
# same registers and a copy of the arguments on the stack, and tells dctx_device_after.

        .set    FRAME, 288
        .set    SLOTS, 256
        .set    SLOT_BYTES, 16

        .text
        .globl  dctx_device_slots
        .hidden dctx_device_slots
        .type   dctx_device_slots, @function
        .balign 16
dctx_device_slots:
        .cfi_startproc
        .set    slot, 0
        .rept   SLOTS
        .balign SLOT_BYTES
        endbr64
        movl    $slot, %r11d
        jmp     .Lenter
        .set    slot, slot + 1
        .endr
        .cfi_endproc
        .size   dctx_device_slots, . - dctx_device_slots

        .globl  dctx_device_enter
        .type   dctx_device_enter, @function
        .balign 16
dctx_device_enter:
.Lenter:                                # here too, not through a table that others may change
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        subq    $FRAME, %rsp
        movq    %rdi, 0(%rsp)
        movq    %rsi, 8(%rsp)
        movq    %rdx, 16(%rsp)
        movq    %rcx, 24(%rsp)
        movq    %r8, 32(%rsp)
        movq    %r9, 40(%rsp)
        movups  %xmm0, 48(%rsp)
        movups  %xmm1, 64(%rsp)
        movups  %xmm2, 80(%rsp)
        movups  %xmm3, 96(%rsp)
        movups  %xmm4, 112(%rsp)
        movups  %xmm5, 128(%rsp)
        movups  %xmm6, 144(%rsp)
        movups  %xmm7, 160(%rsp)
        movq    %rax, 176(%rsp)
        movq    %r10, 184(%rsp)
        leaq    16(%rbp), %rax
        movq    %rax, 216(%rsp)
        movl    %r11d, %edi
        movq    %rsp, %rsi
        call    dctx_device_before
        # The arguments on the stack, again, below the frame.
        movq    200(%rsp), %rcx
        movq    216(%rsp), %rsi
        leaq    0(,%rcx,8), %rax
        subq    %rax, %rsp
        andq    $-16, %rsp
        movq    %rsp, %rdi
        cld
        rep movsq
        movq    -FRAME+0(%rbp), %rdi
        movq    -FRAME+8(%rbp), %rsi
        movq    -FRAME+16(%rbp), %rdx
        movq    -FRAME+24(%rbp), %rcx
        movq    -FRAME+32(%rbp), %r8
        movq    -FRAME+40(%rbp), %r9
        movups  -FRAME+48(%rbp), %xmm0
        movups  -FRAME+64(%rbp), %xmm1
        movups  -FRAME+80(%rbp), %xmm2
        movups  -FRAME+96(%rbp), %xmm3
        movups  -FRAME+112(%rbp), %xmm4
        movups  -FRAME+128(%rbp), %xmm5
        movups  -FRAME+144(%rbp), %xmm6
        movups  -FRAME+160(%rbp), %xmm7
        movq    -FRAME+176(%rbp), %rax
        movq    -FRAME+184(%rbp), %r10
        movq    -FRAME+192(%rbp), %r11
        call    *%r11
        leaq    -FRAME(%rbp), %rdi
        movq    %rax, 224(%rdi)
        movq    %rdx, 232(%rdi)
        movups  %xmm0, 240(%rdi)
        movups  %xmm1, 256(%rdi)
        call    dctx_device_after
        movq    -FRAME+224(%rbp), %rax
        movq    -FRAME+232(%rbp), %rdx
        movups  -FRAME+240(%rbp), %xmm0
        movups  -FRAME+256(%rbp), %xmm1
        leave
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   dctx_device_enter, . - dctx_device_enter

        .section .note.GNU-stack, "", @progbits
