// Examples in several languages: a choice in one holds for all of the page, and for the next pages.
const choices = [...document.querySelectorAll('input[name^="language"]')];
for (const input of choices) {
  input.addEventListener('change', () => {
    const { top } = input.getBoundingClientRect();
    for (const each of choices) if (each.value === input.value) each.checked = true;
    document.cookie = `retention-language=${input.value}; Path=/; SameSite=Lax; Max-Age=31536000`;
    // The examples above may have another height now.
    globalThis.scrollBy({ top: input.getBoundingClientRect().top - top, behavior: 'instant' });
  });
}
