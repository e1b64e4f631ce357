"""Client of the Retention Data Service."""

from ._async_client import AsyncListing, AsyncRetention
from ._cache import CacheOptions
from ._client import Listing, Page, Retention
from ._ids import customer_id_of
from ._settings import Hooks, RequestInfo, ResponseInfo
from .errors import (
    AuthenticationError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    RequestTimeoutError,
    RetentionError,
    UnavailableError,
)

__all__ = [
    "AsyncListing",
    "AsyncRetention",
    "AuthenticationError",
    "CacheOptions",
    "Hooks",
    "InvalidRequestError",
    "Listing",
    "NotFoundError",
    "Page",
    "PermissionDeniedError",
    "RateLimitError",
    "RequestInfo",
    "RequestTimeoutError",
    "ResponseInfo",
    "Retention",
    "RetentionError",
    "UnavailableError",
    "customer_id_of",
]
