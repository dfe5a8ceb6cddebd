"""The terminal, written to in few bytes."""

from textual.drivers.linux_driver import LinuxDriver

from .terse import terse


class TerseDriver(LinuxDriver):
    """Textual's driver for terminals; see `terse`."""

    def write(self, data: str) -> None:
        super().write(terse(data))
