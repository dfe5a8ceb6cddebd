"""The layers of the PyTorch GPU demo: their operators, kernels, backward work and shapes."""

from collections.abc import Sequence
from dataclasses import dataclass

from .torch_events import Kernel

BATCH, LENGTH, WIDTH, HEADS, BLOCKS, WORDS = 8, 1024, 1024, 16, 4, 32_000
ROWS = BATCH * LENGTH
BYTES = 2
"""Of a bfloat16."""
_VECTOR = "void at::native::vectorized_elementwise_kernel<8, at::native::{}, std::array<char*, {}ul> >(int, at::native::{}, std::array<char*, {}ul>)"  # noqa: E501

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Layer:
    """One operation of a module: what runs forward, and what autograd runs for it."""

    file: str
    """Python function that calls it."""
    function: str
    """Built-in that it calls."""
    ops: tuple[str, ...]
    """Operators, the outer ones first."""
    kernel: Kernel
    node: str
    """Autograd node of the outermost operator."""
    backward: tuple[tuple[str, Kernel, tuple[Shape, ...]], ...]
    """Operators of the node, their kernels and the shapes of their arguments."""
    dims: tuple[Shape, ...]
    """Of the arguments of the outermost operator."""
    out: Shape
    inner: tuple[Shape, ...] | None = None
    """Of the innermost operator; None: the same."""

    @property
    def out_bytes(self) -> int:
        """Memory of the result."""
        size = BYTES
        for length in self.out:
            size *= length
        return size


def _elementwise(functor: str, arrays: int, ns: int, elements: int) -> Kernel:
    name = _VECTOR.format(functor, arrays, functor, arrays)
    return Kernel(name, ns, (elements // 1024, 1, 1), (128, 1, 1), 28)


def _gemm(tile: str, layout: str, ns: int, rows: int, columns: int) -> Kernel:
    name = f"nvjet_hsh_{tile}_2x1_v_bz_{layout}"
    return Kernel(name, ns, (132, 1, 1), (384, 1, 1), 168, 200_000 + (rows + columns) % 1024)


def linear(inner: int, outer: int, ns: int) -> Layer:
    """A matrix product with bias; backward has one for the input and one for the weight."""
    return Layer(
        "torch/nn/modules/linear.py(125): forward",
        "<built-in function linear>",
        ("aten::linear", "aten::addmm"),
        _gemm("128x256_64x4", "TNT", ns, inner, outer),
        "AddmmBackward0",
        (
            (
                "aten::mm",
                _gemm("192x192_64x4", "NNT", ns + 4_000, inner, outer),
                ((ROWS, outer), (outer, inner)),
            ),
            (
                "aten::mm",
                _gemm("256x128_64x4", "NTT", ns + 6_000, outer, inner),
                ((outer, ROWS), (ROWS, inner)),
            ),
            (
                "aten::sum",
                Kernel(
                    "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16,"
                    " at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor"
                    "<c10::BFloat16, float, c10::BFloat16> >, unsigned int, c10::BFloat16, 4, 4> >",
                    _read_ns(ROWS * outer),
                    (outer // 32, 1, 1),
                    (32, 16, 1),
                    40,
                    16,
                ),
                ((ROWS, outer), ()),
            ),
        ),
        ((ROWS, inner), (outer, inner), (outer,)),
        (ROWS, outer),
        ((outer,), (ROWS, inner), (inner, outer)),
    )


def _read_ns(elements: int) -> int:
    """Time to read or write them at 2.6 TB/s, 78 % of what the GPU can do."""
    return elements * BYTES // 2_600


_WHOLE = (BATCH, LENGTH, WIDTH)
_NORMED = (_WHOLE, _WHOLE, (), (ROWS, 1), (ROWS, 1), (WIDTH,), (WIDTH,), ())
_BY_HEAD = (BATCH, HEADS, LENGTH, WIDTH // HEADS)
_BY_TOKEN = (BATCH, LENGTH, HEADS, WIDTH // HEADS)

NORM = Layer(
    "torch/nn/modules/normalization.py(217): forward",
    "<built-in method layer_norm of type object>",
    ("aten::layer_norm", "aten::native_layer_norm"),
    Kernel(
        "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float,"
        " false>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*,"
        " float*, float*, c10::BFloat16*)",
        18_000, (ROWS, 1, 1), (32, 4, 1), 32, 24,
    ),
    "NativeLayerNormBackward0",
    (
        ("aten::native_layer_norm_backward", Kernel(
            "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized"
            "<c10::BFloat16, float, false>", 31_000, (ROWS, 1, 1), (128, 1, 1), 38, 64), _NORMED),
        ("aten::native_layer_norm_backward", Kernel(
            "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate"
            "<c10::BFloat16, float, 32u, 1u, 8u, true, true, false>",
            12_000, (WIDTH // 32, 1, 1), (32, 8, 1), 48), _NORMED),
    ),
    ((BATCH, LENGTH, WIDTH), (WIDTH,), (WIDTH,)),
    (BATCH, LENGTH, WIDTH),
)  # fmt: skip

ATTENTION = Layer(
    "model.py(31): attend",
    "<built-in function scaled_dot_product_attention>",
    (
        "aten::scaled_dot_product_attention",
        "aten::_scaled_dot_product_flash_attention",
        "aten::_flash_attention_forward",
    ),
    Kernel(
        "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false,"
        " false, cutlass::bfloat16_t>, false, true, false, false, true, true, false, false>"
        "(pytorch_flash::Flash_fwd_params)",
        96_000, (LENGTH // 128, BATCH, HEADS), (128, 1, 1), 254, 49_152,
    ),
    "ScaledDotProductFlashAttentionBackward0",
    (
        ("aten::_flash_attention_backward", Kernel(
            "void pytorch_flash::flash_bwd_dot_do_o_kernel<true, Flash_bwd_kernel_traits<64, 128,"
            " 128, 8, 4, 4, 4, false, false, cutlass::bfloat16_t> >"
            "(pytorch_flash::Flash_bwd_params)",
            14_000, (LENGTH // 128, BATCH, HEADS), (256, 1, 1), 40), (_BY_TOKEN,) * 5),
        ("aten::_flash_attention_backward", Kernel(
            "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_"
            "traits<64, 128, 128, 8, 4, 4, 4, false, false, cutlass::bfloat16_t>, false, true,"
            " false, false, true, true, false>(pytorch_flash::Flash_bwd_params)",
            238_000, (LENGTH // 128, BATCH, HEADS), (256, 1, 1), 255, 147_456), (_BY_TOKEN,) * 5),
    ),
    (_BY_HEAD,) * 3,
    _BY_HEAD,
    (_BY_TOKEN,) * 3,
)  # fmt: skip

GELU = Layer(
    "torch/nn/modules/activation.py(734): forward",
    "<built-in function gelu>",
    ("aten::gelu",),
    _elementwise("GeluCUDAKernelImpl", 2, _read_ns(2 * ROWS * 4 * WIDTH), ROWS * 4 * WIDTH),
    "GeluBackward0",
    (("aten::gelu_backward",
      _elementwise("GeluBackwardCUDAKernelImpl", 3, _read_ns(3 * ROWS * 4 * WIDTH),
                   ROWS * 4 * WIDTH), ((BATCH, LENGTH, 4 * WIDTH),) * 2),),
    ((BATCH, LENGTH, 4 * WIDTH),),
    (BATCH, LENGTH, 4 * WIDTH),
)  # fmt: skip

EMBEDDING = Layer(
    "torch/nn/modules/sparse.py(192): forward",
    "<built-in method embedding of type object>",
    ("aten::embedding", "aten::index_select"),
    Kernel(
        "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long,"
        " unsigned int, 2, 2, -2, true>", 16_000, (ROWS, 1, 1), (128, 1, 1), 40,
    ),
    "EmbeddingBackward0",
    (("aten::embedding_dense_backward", Kernel(
        "void at::native::(anonymous namespace)::compute_grad_weight<c10::BFloat16, long>",
        71_000, (WIDTH // 128, 512, 1), (128, 1, 1), 32), (_WHOLE, (BATCH, LENGTH))),),
    ((WORDS, WIDTH), (BATCH, LENGTH)),
    (BATCH, LENGTH, WIDTH),
    ((WORDS, WIDTH), (), (ROWS,)),
)  # fmt: skip

QKV = linear(WIDTH, 3 * WIDTH, 78_000)
OUT = linear(WIDTH, WIDTH, 29_000)
UP = linear(WIDTH, 4 * WIDTH, 103_000)
DOWN = linear(4 * WIDTH, WIDTH, 101_000)

HEAD_GRAPH: Sequence[Kernel] = (
    NORM.kernel,
    _gemm("256x128_64x4", "TNN", 610_000, WIDTH, WORDS),
    Kernel(
        "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float,"
        " float, at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>",
        290_000, (ROWS, 1, 1), (1024, 1, 1), 32, 132,
    ),
)  # fmt: skip
"""What the captured head runs: norm, projection to words, loss."""
HEAD_BACKWARD_GRAPH: Sequence[Kernel] = (
    Kernel(
        "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<8, float, float,"
        " c10::BFloat16, at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>",
        330_000, (ROWS, 1, 1), (1024, 1, 1), 32, 132,
    ),
    _gemm("192x192_64x4", "NNN", 640_000, WORDS, WIDTH),
    _gemm("256x128_64x4", "NTN", 655_000, WIDTH, WORDS),
    NORM.backward[0][1],
)  # fmt: skip
ADAMW = Kernel(
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous"
    " namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::"
    "FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false> >",
    182_000, (320, 1, 1), (512, 1, 1), 48,
)  # fmt: skip
ALL_REDUCE = Kernel(
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    0, (24, 1, 1), (512, 1, 1), 96, 82_240,
)  # fmt: skip
