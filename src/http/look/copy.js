// Shows and runs the copy buttons; without this script, the texts can be selected by hand.
for (const button of document.querySelectorAll('button[data-copies]')) {
  const source = document.getElementById(button.dataset.copies);
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
