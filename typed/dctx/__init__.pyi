from .live.api import record as record
from .live.api import scope as scope
from .live.api import step as step

__version__: str
