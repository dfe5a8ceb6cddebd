"""Kernels by short names."""

import pytest

from dctx.reports.kernel_label import kernel_label


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("attn_fwd", "attn_fwd"),
        ("Memcpy DtoH (Device -> Pinned)", "Memcpy DtoH (Device -> Pinned)"),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::rsqrt_kernel_cuda"
         "(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda(float)#1}, "
         "std::array<char*, 2ul> >(int, at::native::X)",
         "vectorized_elementwise_kernel<rsqrt_kernel_cuda>"),
        ("void (anonymous namespace)::index_kernel<int, at::native::MulFunctor<float> >(int)",
         "index_kernel<MulFunctor>"),
        ("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32>(cutlass_80::Params)",
         "Kernel2<cutlass_80_simt_sgemm_128x32>"),
        ("void flash::flash_fwd_kernel<flash::Traits<64, 128> >(flash::Params)",
         "flash_fwd_kernel<Traits<64, 128> >"),
        ("operator<", "operator<"),
        ("a::", "a::"),
    ],
)  # fmt: skip
def test_what_says_what_is_computed_stays(name: str, label: str) -> None:
    assert kernel_label(name) == label
