"""The explorer: a local page on which one types a function and sees whether it can be learned.

The page is made from the declarations of the library; numbers come from processes that can be
stopped at any moment, and no request leaves the machine.
"""

from learnability.explorer.server import Explorer

__all__ = ["Explorer"]
