/** Whether a header that lists what a client accepts has this name, unless with quality 0. */
export function accepts(header: string | undefined, name: string): boolean {
  return (header ?? '').split(',').some((item) => {
    const [listed, ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    return listed === name && !parameters.some((each) => /^q=0(\.0*)?$/.test(each));
  });
}
