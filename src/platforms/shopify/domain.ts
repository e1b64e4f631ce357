/** A shop's domain at Shopify. */
export const domainPattern = /^[a-z0-9][a-z0-9-]{0,62}\.myshopify\.com$/;
