"""What a calling context is measured by."""

from enum import StrEnum


class Metric(StrEnum):
    """A column of the call-path tree.

    `*_SELF` is exclusive (the context itself), the others are inclusive (its whole subtree),
    except CALLS and MEAN, which are of the context itself.
    """

    GPU = "gpu"
    """ns of kernels, copies, memsets and graph replays."""
    GPU_SELF = "gpu_self"
    MEAN = "mean"
    """ns of GPU time per call."""
    HOST = "host"
    """ns on the thread."""
    HOST_SELF = "host_self"
    CALLS = "calls"
    """Host events of the context; executions for GPU operations."""
    LAUNCHES = "launches"
    """Kernel and graph launches."""
    KERNELS = "kernels"
    SAMPLES = "samples"
    """CPU samples."""
    SAMPLES_SELF = "samples_self"
    GPU_SAMPLES = "gpu_samples"
    """Samples of instructions of kernels, whether they waited or not."""
    BYTES = "bytes"
    """Copied or set."""

    @property
    def inclusive(self) -> "Metric":
        """The inclusive metric that shares and the percent limit go by when this one sorts."""
        return _INCLUSIVE.get(self, self)


_INCLUSIVE = {
    Metric.GPU_SELF: Metric.GPU,
    Metric.MEAN: Metric.GPU,
    Metric.HOST_SELF: Metric.HOST,
    Metric.CALLS: Metric.GPU,
    Metric.SAMPLES_SELF: Metric.SAMPLES,
}

PRIMARY = (Metric.GPU, Metric.HOST, Metric.SAMPLES, Metric.GPU_SAMPLES)
"""What a view is about: the first of these that was measured."""
