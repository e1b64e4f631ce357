/** How many formatters of a kind are kept: all that the pages need, in a dozen languages. */
const limit = 300;

const kept: { readonly size: number }[] = [];

/** How many formatters are kept. */
export const keptFormatters = () => kept.reduce((sum, { size }) => sum + size, 0);

/**
 * Keeps what Intl creates, since creating a formatter takes as long as formatting hundreds of values. A browser may
 * ask for any language, so all are dropped once there are too many.
 */
function keeping<Options, Formatter>(
  create: (locale: string, options: Options) => Formatter,
): (locale: string, options: Options) => Formatter {
  const formatters = new Map<string, Formatter>();
  kept.push(formatters);
  return (locale, options) => {
    const key = locale + JSON.stringify(options);
    const found = formatters.get(key);
    if (found !== undefined) return found;
    if (formatters.size === limit) formatters.clear();
    const created = create(locale, options);
    formatters.set(key, created);
    return created;
  };
}

export const numberFormat = keeping(
  (locale, options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options),
);

/** Of dates in UTC, like all dates of the service. */
export const dateFormat = keeping(
  (locale, options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' }),
);
