"""What is asked and answered. Written by "npm run generate" from the catalogue of operations."""

from typing import Literal, TypedDict

ListSubscriptionsStatus = Literal[
    "active",
    "paused",
    "cancelled",
    "expired",
    "failed",
]

ListCancellationsOutcome = Literal[
    "saved",
    "cancelled",
    "abandoned",
]


class EntitlementsResponse(TypedDict):
    """Every subscription the customer has in the shop. The customer is entitled if any
    of them entitles.
    """

    subscriptions: list["EntitlementEntry"]
    """By subscription id, ascending."""


class EntitlementEntry(TypedDict):
    """A subscription of the customer. It entitles while its status is `active` and, in
    any other status, as long as now is before `paidThroughAt`, the end of the last
    period that was paid for; if that is unknown, it counts as past. A failed payment
    alone takes nothing away.
    """

    subscriptionId: int
    """The subscription."""

    planId: int
    """The selling plan it is on."""

    planName: str
    """The plan's name."""

    planType: str
    """The kind of plan: prepaid is billed for several deliveries at once, a membership
    ships nothing; new values may be added.
    """

    status: str
    """Status of the subscription; new values may be added."""

    isEntitled: bool
    """Whether the customer is entitled through this subscription right now: it is
    active, or paidThroughAt lies in the future.
    """

    paidThroughAt: str | None
    """The end of the last period that was paid for; null where the source never gave
    one.
    """


class SubscriptionPage(TypedDict):
    """One page of the list of subscriptions."""

    subscriptions: list["Subscription"]
    """Newest first: by `createdAt`, then by id."""

    nextCursor: str | None
    """The cursor of the next page; null on the last one."""


class Subscription(TypedDict):
    """A subscription without its line items."""

    subscriptionId: int
    """The subscription."""

    customerId: int
    """Opaque internal id scoped to the shop; not personal data."""

    status: str
    """Status of the subscription; new values may be added."""

    planId: int
    """The selling plan it is on."""

    planName: str
    """The plan's name."""

    planType: str
    """The kind of plan: prepaid is billed for several deliveries at once, a membership
    ships nothing; new values may be added.
    """

    currentPrice: float
    """Per-cycle value: line prices times quantity, in the shop's currency, which the
    metrics summary names in `currency`.
    """

    nextBillingDate: str | None
    """The last one known from the source. A subscription that has ended keeps it, and
    it may lie in the future. Null where the source never gave one.
    """

    createdAt: str
    """When the subscription began."""


class SubscriptionResponse(TypedDict):
    """One subscription."""

    subscription: "SubscriptionDetail"
    """The subscription."""


class LineItem(TypedDict):
    """What a subscription delivers each cycle."""

    lineId: int
    """Unique within the subscription."""

    productId: int
    """The product in the shop's catalog."""

    productTitle: str
    """The product's name."""

    variantId: int
    """The variant of the product."""

    variantTitle: str
    """Empty where the product has no variants."""

    quantity: int
    """How many units each cycle brings."""

    currentPrice: float
    """Price of one unit, in the shop's currency, which the metrics summary names in
    `currency`.
    """


class SubscriptionDetail(TypedDict):
    """A subscription with its line items."""

    subscriptionId: int
    """The subscription."""

    customerId: int
    """Opaque internal id scoped to the shop; not personal data."""

    status: str
    """Status of the subscription; new values may be added."""

    planId: int
    """The selling plan it is on."""

    planName: str
    """The plan's name."""

    planType: str
    """The kind of plan: prepaid is billed for several deliveries at once, a membership
    ships nothing; new values may be added.
    """

    currentPrice: float
    """Per-cycle value: line prices times quantity, in the shop's currency, which the
    metrics summary names in `currency`.
    """

    nextBillingDate: str | None
    """The last one known from the source. A subscription that has ended keeps it, and
    it may lie in the future. Null where the source never gave one.
    """

    createdAt: str
    """When the subscription began."""

    lineItems: list["LineItem"]
    """What it delivers each cycle."""


class MetricsSummaryResponse(TypedDict):
    """The metrics summary of the shop."""

    summary: "MetricsSummary"
    """The figures, and when they were measured."""


class MetricsSummary(TypedDict):
    """The figures of the shop, all measured at one instant, `generatedAt`. The last 30
    days are the 30 × 24 hours before it, the next 7 days the 7 × 24 hours from it on;
    each includes its beginning and excludes its end. What is dated after `generatedAt`
    does not count yet. Rates are rounded to 4 decimals and amounts to the digits of the
    currency, once, at the end, half away from zero. A rate or an average of nothing is
    0.
    """

    activeSubscribers: int
    """Customers with at least one active subscription."""

    pausedSubscribers: int
    """Customers with at least one paused subscription and no active one, also if it is
    unknown since when.
    """

    mrr: float
    """Monthly recurring revenue: the sum of `price × quantity × factor` over the lines
    of active subscriptions whose trial is over. The factor for a billing interval of n
    units is `365/(12n)` for days, `365/(84n)` for weeks, `1/n` for months and `1/(12n)`
    for years; a line without one of its own has the interval of its subscription.
    """

    revenue30d: float
    """`payments − refunds`: payments that succeeded in the last 30 days and refunds
    made in the last 30 days; can be negative.
    """

    newSubscribers30d: int
    """Customers whose first subscription ever was created in the last 30 days."""

    cancelled30d: int
    """Subscriptions that are cancelled now and became so in the last 30 days."""

    churnRate30d: float
    """`lost / at risk`. At risk: subscriptions that were active or paused just before
    the last 30 days began, or became so within them (created or resumed). Lost: those
    of them that are cancelled or failed now and became so in the last 30 days. Expiry
    is a planned end, not churn.
    """

    saveRate: float
    """`saved / (saved + cancelled + abandoned)`, over cancel-flow sessions created in
    the last 30 days.
    """

    cancelSessions30d: int
    """Cancel-flow sessions created in the last 30 days, including those in progress."""

    dunningActive: int
    """Subscriptions with an open dunning case. A failed payment opens one if none is
    open and the subscription has not ended (cancelled, expired or failed). A payment
    that succeeds closes it as recovered; the subscription becoming cancelled, expired
    or failed closes it as lost.
    """

    recoveryRate: float
    """`recovered / (recovered + lost)`, over dunning cases closed in the last 30 days.
    """

    failedPayments30d: int
    """Billing cycles with at least one failed payment in the last 30 days; a cycle of a
    subscription counts once. Failures for lack of stock do not count, here or in
    dunning.
    """

    avgSubscriptionValue: float
    """`sum of currentPrice / number of subscriptions`, over active ones, in their trial
    or not; per billing cycle, not per month.
    """

    upcomingRenewals7d: int
    """Active subscriptions whose `nextBillingDate` is in the next 7 days; an overdue
    one is not upcoming.
    """

    upcomingRenewalsValue7d: float
    """Sum of `price × quantity` over the lines of those that are billed at their
    interval.
    """

    generatedAt: str
    """The instant the figures are measured from."""

    currency: str
    """The currency of the shop: of all money here and in every other answer, ISO 4217.
    """


class SellingPlansResponse(TypedDict):
    """All selling plans of the shop."""

    plans: list["SellingPlan"]
    """By id, ascending; all of them."""


class SellingPlanPricing(TypedDict):
    """What a subscriber pays compared with buying once."""

    discountType: str
    """What discountValue is: with fixed_amount the amount off, with price the price
    itself; new values may be added.
    """

    discountValue: float
    """A percentage (0 to 100) or money, as discountType says; 0 for none. Money is in
    the shop's currency, which the metrics summary names in `currency`.
    """

    summary: str
    """The same in words."""


class SellingPlan(TypedDict):
    """A way to subscribe: an interval and a price."""

    id: int
    """The plan; planId elsewhere."""

    name: str
    """The plan's name."""

    groupName: str
    """The group of plans it belongs to; may be empty."""

    intervalUnit: str
    """The unit of the billing interval; new values may be added."""

    intervalCount: int
    """How many units one billing interval has."""

    active: bool
    """Whether it is offered to new subscribers."""

    productCount: int
    """How many products are sold on it."""

    pricing: SellingPlanPricing
    """What a subscriber pays compared with buying once."""


class CancellationPage(TypedDict):
    """One page of the list of cancel-flow sessions."""

    cancellations: list["CancellationSession"]
    """Newest first: by `createdAt`, then by id."""

    nextCursor: str | None
    """The cursor of the next page; null on the last one."""


class CancellationSession(TypedDict):
    """A session in the cancel flow: why a customer wanted to leave, and what followed.
    """

    sessionId: int
    """The session in the cancel flow."""

    detectedReason: str
    """Why the customer wanted to leave; new values may be added."""

    outcome: str | None
    """How it ended: null while it is in progress; new values may be added."""

    offerType: str | None
    """What the customer was offered: null if nothing was; new values may be added."""

    createdAt: str
    """When the session began."""


class ErrorEnvelope(TypedDict):
    """The body of every answer that is not 2xx."""

    success: bool
    """Tells it from a success."""

    message: str
    """For people: what was wrong, and what to do."""
