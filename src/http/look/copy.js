// Shows and runs the copy buttons; without this script, the texts can be selected by hand.

// The ids in the heads of a list's rows, each once.
function shownIds(button) {
  const heads = [...document.querySelectorAll('.rows tbody th > a:first-child')];
  const ids = document.createElement('pre');
  ids.hidden = true;
  ids.textContent = [...new Set(heads.map((head) => head.textContent))].join('\n');
  button.after(ids);
  return ids;
}

for (const button of document.querySelectorAll('button[data-copies]')) {
  const source = document.getElementById(button.dataset.copies) ?? shownIds(button);
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = 'Copied';
    } catch {
      // Pages without https may not write to the clipboard.
      source.hidden = false;
      globalThis.getSelection().selectAllChildren(source);
      button.textContent = 'Selected: press Ctrl+C';
    }
    setTimeout(() => (button.textContent = label), 4000);
  });
}
