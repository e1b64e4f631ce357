// Asks the browser for a passkey, and sends the form with its answer.
const isKnown = typeof PublicKeyCredential?.parseRequestOptionsFromJSON === 'function';

// The form for a new one, which is of no use without this script.
for (const form of document.querySelectorAll('[data-passkeys]')) form.hidden = false;
for (const button of document.querySelectorAll('button[data-passkey]')) {
  button.hidden = !isKnown;
  button.form.querySelector('output').value = isKnown ? '' : 'This browser cannot use passkeys.';
}

async function answerOf(use, token) {
  const body = new URLSearchParams({ use, token });
  const asked = await fetch('/app/passkey-challenge', { method: 'POST', body });
  if (!asked.ok) throw new Error(`status ${asked.status}`);
  const options = await asked.json();
  const { credentials } = navigator;
  return use === 'create'
    ? credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
    : credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
}

document.addEventListener('click', async ({ target }) => {
  const button = target.closest('button[data-passkey]');
  if (!button) return;
  const { form } = button;
  const { passkey: use, answer } = button.dataset;
  if (use === 'create' && !form.reportValidity()) return;
  const output = form.querySelector('output');
  button.disabled = true;
  output.value = 'Your browser asks for the passkey.';
  try {
    form.elements[answer].value = JSON.stringify(await answerOf(use, form.elements.token.value));
    form.submit();
  } catch (error) {
    output.value =
      error.name === 'InvalidStateError'
        ? 'This device already has a passkey of yours.'
        : 'No passkey came. Reload the page, then try again.';
    button.disabled = false;
  }
});
