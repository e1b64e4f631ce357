// Counts the subscriptions of a segment while it is being chosen. Without this script, the page counts those shown.
let latest = new AbortController();
let timer;

async function count(form) {
  latest.abort();
  latest = new AbortController();
  const { signal } = latest;
  const output = form.querySelector('output');
  try {
    const query = new URLSearchParams(new FormData(form));
    const answer = await fetch(`${form.dataset.count}?${query}`, { signal });
    const isText = answer.headers.get('content-type')?.startsWith('text/plain');
    output.value = answer.ok && isText ? await answer.text() : '';
  } catch {
    // A later choice replaced this one, or the service is away.
    if (!signal.aborted) output.value = '';
  }
}

document.addEventListener('input', ({ target }) => {
  const form = target.closest('form[data-count]');
  if (!form) return;
  clearTimeout(timer);
  timer = setTimeout(() => count(form), 200);
});
