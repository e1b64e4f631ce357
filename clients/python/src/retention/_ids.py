import hashlib
import re


def customer_id_of(text: str) -> int:
    """The number by which the service knows a customer, from the text by which the
    source does: `cus_NffrFeUfNV2Hib`. The number in a platform's id
    (`gid://shopify/Customer/6940095564`) is the number itself. The service's guide to
    ids documents the formula.

    :raises ValueError: for what is no text, or an empty one
    """
    # Half of a pair of surrogates is no text: it has no bytes in UTF-8.
    if not isinstance(text, str) or not text or re.search("[\ud800-\udfff]", text):
        raise ValueError(
            f"customer_id_of needs a text such as cus_NffrFeUfNV2Hib; it got {text!r}."
        )
    match = re.fullmatch(r"gid://[a-z][\w-]*/\w+/([1-9]\d{0,15})", text, re.ASCII)
    if match and int(match[1]) < 2**53:
        return int(match[1])
    digest = hashlib.sha256(f"customer:{text}".encode()).hexdigest()
    return 2**52 + int(digest[:13], 16)
