// Counts the subscriptions of a segment while it is being chosen. Without this script, the page counts those shown.
for (const form of document.querySelectorAll('form[data-count]')) {
  const output = form.querySelector('output');
  let latest = new AbortController();
  let timer;
  const count = async () => {
    latest.abort();
    latest = new AbortController();
    const { signal } = latest;
    try {
      const query = new URLSearchParams(new FormData(form));
      const answer = await fetch(`${form.dataset.count}?${query}`, { signal });
      const isText = answer.headers.get('content-type')?.startsWith('text/plain');
      output.value = answer.ok && isText ? await answer.text() : '';
    } catch {
      // A later choice replaced this one, or the service is away.
      if (!signal.aborted) output.value = '';
    }
  };
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(count, 200);
  });
}
