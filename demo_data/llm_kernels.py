"""Kernels and call stacks of the LLM demo, named and shaped as engineers know them."""

from dataclasses import dataclass

ALL_REDUCES = 33
LAYERS = 16


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel and its launch shape; `site` names the stack it is launched from."""

    short: str
    full: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers: int
    static_bytes: int
    dynamic_bytes: int
    typical_ns: int
    site: str


def _elementwise(functor: str, arrays: int, elements: int, typical_ns: int, site: str) -> Kernel:
    traits = f"std::array<char*, {arrays}ul>"
    return Kernel(
        "vectorized_elementwise_kernel",
        f"void at::native::vectorized_elementwise_kernel<4, {functor}, {traits} >"
        f"(int, {functor}, {traits})",
        (max(1, elements // 512), 1, 1), (128, 1, 1), 24, 0, 0, typical_ns, site,
    )  # fmt: skip


def _reduce(operation: str, rows: int, typical_ns: int, site: str) -> Kernel:
    return Kernel(
        "reduce_kernel",
        f"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<{operation}, unsigned int,"
        f" long, 4, 4> >(at::native::ReduceOp<{operation}, unsigned int, long, 4, 4>)",
        (rows, 1, 1), (512, 1, 1), 32, 16, 0, typical_ns, site,
    )  # fmt: skip


def _triton(name: str, grid: int, registers: int, typical_ns: int, site: str) -> Kernel:
    return Kernel(name, name, (grid, 1, 1), (128, 1, 1), registers, 0, 512, typical_ns, site)


_AR = "tensorrt_llm::kernels::ar_fusion"
ALL_REDUCE = Kernel(
    "allreduce_fusion_kernel_oneshot_lamport",
    f"void {_AR}::allreduce_fusion_kernel_oneshot_lamport<({_AR}::AllReduceFusionPattern)1,"
    f" __nv_bfloat16, 2, true, true>({_AR}::AllReduceFusionParams)",
    (32, 1, 1), (256, 1, 1), 40, 0, 0, 6_000, "allreduce",
)  # fmt: skip
ATTENTION = Kernel(
    "masked_multihead_attention_kernel",
    "void mmha::masked_multihead_attention_kernel<__nv_bfloat16, __nv_bfloat16, __nv_bfloat16,"
    " tensorrt_llm::kernels::KVBlockArray, tensorrt_llm::kernels::KVBlockArray,"
    " Multihead_attention_params<__nv_bfloat16, false>, 64, 256, 8, false, true, false, false,"
    " true, 2, 8>(Multihead_attention_params<__nv_bfloat16, false>)",
    (8, 500, 1), (256, 1, 1), 126, 0, 8256, 13_000, "attention",
)  # fmt: skip
MLP_GEMM = Kernel(
    "nvjet_tst_128x64_64x8_2x1_v_bz_TNT", "nvjet_tst_128x64_64x8_2x1_v_bz_TNT",
    (64, 2, 1), (384, 1, 1), 168, 0, 213_504, 10_500, "linear",
)  # fmt: skip
LM_HEAD = Kernel(
    "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNN", "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNN",
    (132, 1, 1), (384, 1, 1), 168, 0, 213_504, 76_000, "lm_head",
)  # fmt: skip
FLASH = Kernel(
    "flash_fwd_kernel",
    "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false,"
    " cutlass::bfloat16_t, Flash_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, false,"
    " true, false, false, true, true, false, false>(flash::Flash_fwd_params)",
    (16, 25, 16), (128, 1, 1), 246, 0, 65_536, 92_000, "attention",
)  # fmt: skip
CONTEXT_GEMM = Kernel(
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize2x1x1",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize2x1x1_execute"
    "_segment_k_off_kernel__5x_cublas",
    (64, 32, 1), (384, 1, 1), 168, 0, 199_168, 84_000, "linear",
)  # fmt: skip

EMBEDDING = Kernel(
    "vectorized_gather_kernel",
    "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, long,"
    " long, long, bool)",
    (500, 1, 1), (256, 1, 1), 20, 0, 0, 5_200, "embedding",
)  # fmt: skip
NORM = Kernel(
    "RMSNormKernel",
    "void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*,"
    " __nv_bfloat16*, unsigned int, unsigned int, unsigned int, float, float)",
    (500, 1, 1), (32, 8, 1), 32, 0, 128, 4_900, "norm",
)  # fmt: skip
POSITIONS = _elementwise("at::native::CUDAFunctorOnSelf_add<int>", 2, 2_000, 2_100, "positions")
FILL = _elementwise("at::native::FillFunctor<int>", 1, 500, 1_900, "fill")
CAST = _elementwise("at::native::bfloat16tofloat32_copy_kernel_cuda", 2, 64_000, 9_000, "cast")
ARGMAX = _reduce("float, at::native::ArgMaxOps<float>", 500, 12_000, "argmax")
COPY = _elementwise("at::native::direct_copy_kernel_cuda", 2, 4_000, 2_000, "copy")
WHERE = _elementwise("at::native::where_kernel_impl", 4, 1_000, 2_200, "finish")
EQUAL = _elementwise("at::native::CompareEqFunctor<int>", 3, 1_000, 2_000, "finish")
ANY = _reduce("bool, at::native::func_wrapper_t<bool, at::native::or_kernel>", 8, 3_000, "finish")
INDEX_PUT = Kernel(
    "index_elementwise_kernel",
    "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<"
    "at::native::index_put_kernel_impl<at::native::OpaqueType<4> > > >(long,"
    " at::native::gpu_index_kernel<at::native::index_put_kernel_impl<"
    "at::native::OpaqueType<4> > >)",
    (1, 1, 1), (128, 1, 1), 28, 0, 0, 2_300, "index_put",
)  # fmt: skip
SCAN = Kernel(
    "DeviceScanKernel",
    "void at_cuda_detail::cub::DeviceScanKernel<at_cuda_detail::cub::DeviceScanPolicy<int,"
    " std::plus<int> >::Policy900, int const*, int*, at_cuda_detail::cub::ScanTileState<int,"
    " true>, std::plus<int>, at_cuda_detail::cub::NullType, unsigned int, int>",
    (1, 1, 1), (128, 1, 1), 40, 7_680, 0, 2_600, "positions",
)  # fmt: skip

# Launched by the host in every step, before and after the graph; the optional one comes last.
LAUNCHED_V1_1 = ((EMBEDDING, NORM), (LM_HEAD, CAST, ARGMAX, FILL), INDEX_PUT)
LAUNCHED_MAIN = (
    (COPY, SCAN, POSITIONS, FILL, INDEX_PUT, COPY, EMBEDDING, NORM),
    (LM_HEAD, CAST, ARGMAX, COPY, EQUAL, WHERE, ANY, EQUAL, WHERE, ANY, INDEX_PUT, FILL, COPY),
    INDEX_PUT,
)


def _graph() -> tuple[Kernel, ...]:
    """All-reduces around the attention and the MLP of every layer, and after the embedding."""
    nodes = [ALL_REDUCE]
    for _ in range(LAYERS):
        nodes += [ATTENTION, ALL_REDUCE, MLP_GEMM, ALL_REDUCE]
    return tuple(nodes)


def _context() -> tuple[Kernel, ...]:
    """The same without a graph, thinned out to keep the file small: a GEMM per pair of layers."""
    nodes = [EMBEDDING, ALL_REDUCE]
    for _ in range(LAYERS // 2):
        nodes += [FLASH, ALL_REDUCE, ALL_REDUCE, FLASH, ALL_REDUCE, CONTEXT_GEMM, ALL_REDUCE]
    return (*nodes, LM_HEAD, ARGMAX)


GRAPH = _graph()
CONTEXT = _context()
JIT = (
    _triton("triton_poi_fused_mul_silu_0", 512, 24, 3_100, "autotune"),
    _triton("triton_poi_fused__to_copy_add_1", 256, 18, 2_400, "autotune"),
    _triton("triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_2", 500, 40, 3_900, "autotune"),
    _triton("triton_per_fused_sum_3", 128, 32, 2_800, "autotune"),
    _triton("triton_poi_fused_cat_index_4", 640, 22, 2_600, "autotune"),
    _elementwise("at::native::FillFunctor<float>", 1, 16_000, 1_800, "autotune"),
    _reduce("float, at::native::MaxOps<float, float>", 64, 3_300, "autotune"),
)

# ------------------------------------------------------------------- stacks --

_PY = "tensorrt_llm/_torch/"
_LOOP = ("_executor_loop_overlap", _PY + "pyexecutor/py_executor.py")
_STEP = ("_forward_step", _PY + "pyexecutor/py_executor.py")
_ENGINE = ("forward", _PY + "pyexecutor/model_engine.py")
_MODEL = ("forward", _PY + "models/modeling_llama.py")
_EVAL = ("_PyEval_EvalFrameDefault", "libpython3.12.so.1.0")
_TORCH = "libtorch_cpu.so"
_CUDA = "libtorch_cuda.so"
_BIND = "libtorch_python.so"
_TRT = "libth_common.so"

Frame = tuple[str, str]


def _op(name: str, native: str, library: str = _CUDA) -> tuple[Frame, ...]:
    return (
        (f"torch::autograd::THPVariable_{name}(_object*, _object*, _object*)", _BIND),
        (f"at::_ops::{name}::call", _TORCH),
        (native, library),
    )


# Root to leaf, without the API itself.
SITES: dict[str, tuple[Frame, ...]] = {
    "embedding": (_LOOP, _STEP, _ENGINE, _MODEL,
                  *_op("embedding", "at::native::index_select_out_cuda_impl<c10::BFloat16>")),
    "norm": (_LOOP, _STEP, _ENGINE, _MODEL, ("forward", _PY + "modules/rms_norm.py"),
             ("flashinfer::norm::RMSNorm<__nv_bfloat16>", "norm.so")),
    "positions": (_LOOP, _STEP, _ENGINE, *_op("cumsum", "at::native::launch_cumsum_cuda_kernel")),
    "fill": (_LOOP, _STEP, _ENGINE, *_op("fill_", "at::native::fill_kernel_cuda")),
    "copy": (_LOOP, _STEP, _ENGINE, *_op("copy_", "at::native::direct_copy_kernel_cuda")),
    "index_put": (_LOOP, _STEP, _ENGINE, *_op("index_put_", "at::native::index_put_kernel")),
    "lm_head": (_LOOP, _STEP, _ENGINE, _MODEL, ("forward", _PY + "modules/linear.py"),
                *_op("linear", "at::cuda::blas::gemm<c10::BFloat16>"),
                ("cublasLtMatmul", "libcublasLt.so.12")),
    "linear": (_LOOP, _STEP, _ENGINE, _MODEL, ("forward", _PY + "modules/linear.py"),
               *_op("linear", "at::cuda::blas::gemm<c10::BFloat16>"),
               ("cublasLtMatmul", "libcublasLt.so.12")),
    "attention": (_LOOP, _STEP, _ENGINE, _MODEL, ("forward", _PY + "modules/attention.py"),
                  ("torch_ext::attention_inplace", _TRT),
                  ("tensorrt_llm::common::op::AttentionOp::enqueueGeneration", _TRT)),
    "allreduce": (_LOOP, _STEP, _ENGINE, _MODEL, ("forward", _PY + "distributed/ops.py"),
                  ("torch_ext::allreduce", _TRT),
                  ("tensorrt_llm::kernels::ar_fusion::allreduce_fusion_op", _TRT)),
    "cast": (_LOOP, _STEP, _ENGINE, *_op("to", "at::native::copy_device_to_device")),
    "argmax": (_LOOP, _STEP, ("sample", _PY + "pyexecutor/sampler.py"),
               *_op("argmax", "at::native::argmax_kernel_cuda")),
    "finish": (_LOOP, _STEP, ("_write_finish_reasons",
                              _PY + "pyexecutor/sampler.py"),
               *_op("where", "at::native::where_kernel")),
    "graph": (_LOOP, _STEP, _ENGINE, ("replay", _PY + "pyexecutor/cuda_graph_runner.py"),
              ("at::cuda::CUDAGraph::replay()", _CUDA)),
    "autotune": (("warmup", _PY + "pyexecutor/model_engine.py"),
                 ("benchmark", "torch/_inductor/runtime/triton_heuristics.py"),
                 ("launcher", "torch/_inductor/runtime/static_cuda_launcher.py")),
    "inputs": (_LOOP, _STEP, _ENGINE, ("_prepare_tp_inputs",
                                       _PY + "pyexecutor/model_engine.py"),
               *_op("copy_", "at::native::copy_kernel_cuda")),
    "tokens": (_LOOP, ("sample_async", _PY + "pyexecutor/sampler.py"),
               *_op("to", "at::native::copy_kernel_cuda")),
}  # fmt: skip

_PY_EXECUTOR = _PY + "pyexecutor/py_executor.py"
# Where a sampled thread is, by the range it is in.
SAMPLE_STACKS: dict[str, tuple[tuple[Frame, ...], ...]] = {
    "": (
        (_EVAL, _LOOP, ("select_epoll_wait_impl", "libpython3.12.so.1.0")),
        (_EVAL, _LOOP, ("gc_collect_main", "libpython3.12.so.1.0")),
    ),
    "_prepare_inputs": (
        (_EVAL, _LOOP, _STEP, _ENGINE, ("_prepare_tp_inputs", _PY + "pyexecutor/model_engine.py"),
         ("PyList_Append", "libpython3.12.so.1.0")),
        (_EVAL, _LOOP, _STEP, _ENGINE, ("_prepare_tp_inputs", _PY + "pyexecutor/model_engine.py"),
         ("get_block_ids_per_seq", _PY + "pyexecutor/resource_manager.py"),
         ("_PyObject_GenericGetAttrWithDict", "libpython3.12.so.1.0")),
        (_EVAL, _LOOP, _STEP, _ENGINE, ("_prepare_tp_inputs", _PY + "pyexecutor/model_engine.py"),
         ("torch::utils::internal_new_from_data", _BIND)),
    ),
    "prepare_resources": (
        (_EVAL, _LOOP, ("prepare_resources", _PY + "pyexecutor/resource_manager.py"),
         ("tensorrt_llm::batch_manager::kv_cache_manager::BlockManager::allocateBlock",
          "libtensorrt_llm.so")),
    ),
    "_sample_async": (
        (_EVAL, _LOOP, ("_sample_async", _PY_EXECUTOR),
         ("sample_async", _PY + "pyexecutor/sampler.py"), ("THPVariable_subclass_dealloc", _BIND)),
        (_EVAL, _LOOP, ("_sample_async", _PY_EXECUTOR),
         ("sample_async", _PY + "pyexecutor/sampler.py"),
         ("at::TensorIteratorBase::build(at::TensorIteratorConfig&)", _TORCH)),
    ),
    "_update_requests": (
        (_EVAL, _LOOP, ("_update_requests", _PY_EXECUTOR),
         ("update_requests", _PY + "pyexecutor/sampler.py"),
         ("add_token", _PY + "pyexecutor/llm_request.py")),
        (_EVAL, _LOOP, ("_update_requests", _PY_EXECUTOR),
         ("update_requests", _PY + "pyexecutor/sampler.py"),
         ("pybind11::cpp_function::dispatcher", "bindings.so")),
    ),
    "_write_finish_reasons": (
        (_EVAL, _LOOP, ("_update_requests", _PY_EXECUTOR),
         ("_write_finish_reasons", _PY + "pyexecutor/sampler.py"),
         ("at::native::item(at::Tensor const&)", _TORCH)),
    ),
    "_fetch_new_requests": (
        (_EVAL, _LOOP, ("_fetch_new_requests", _PY_EXECUTOR),
         ("get_from_request_queue", _PY + "pyexecutor/executor_request_queue.py"),
         ("_queue_SimpleQueue_get", "libpython3.12.so.1.0")),
    ),
    "broadcast_requests": (
        (_EVAL, _LOOP, ("_fetch_new_requests", _PY_EXECUTOR),
         ("_broadcast_new_requests", _PY + "pyexecutor/executor_request_queue.py"),
         ("ompi_coll_base_bcast_intra_binomial", "libmpi.so.40"),
         ("opal_progress", "libopen-pal.so.40")),
    ),
    "_schedule": (
        (_EVAL, _LOOP, ("_schedule", _PY_EXECUTOR),
         ("schedule_request", _PY + "pyexecutor/scheduler.py"),
         ("tensorrt_llm::batch_manager::MicroBatchScheduler::operator()", "libtensorrt_llm.so")),
    ),
    "load_weights": (
        (_EVAL, ("load_weights", _PY + "models/modeling_utils.py"),
         ("safetensors::slice::TensorView::data", "_safetensors_rust.so"),
         ("__memmove_avx512_unaligned_erms", "libc.so.6")),
    ),
}  # fmt: skip
