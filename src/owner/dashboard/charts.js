// Tells the value of a chart under the pointer, or chosen with the arrow keys. Without this script
// charts stand as they are, with their tables beside them.
for (const figure of document.querySelectorAll('figure.chart')) {
  const plot = figure.querySelector('.plot');
  const drawing = plot.querySelector('svg');
  const cursor = drawing.querySelector('.cursor');
  const told = figure.querySelector('.told');
  const time = told.querySelector('.time');
  const values = [...told.querySelectorAll('b')];
  const names = [...told.querySelectorAll('.name')];
  // The table has every value, written as the reader writes it.
  const rows = [...figure.querySelectorAll('tbody tr')];
  const first = Number(figure.dataset.first);
  const last = rows.length - 1;
  let chosen = first;

  const tell = (index, isPointedAt) => {
    chosen = Math.min(Math.max(index, 0), last);
    const [when, ...cells] = [...rows[chosen].children].map((cell) => cell.textContent.trim());
    time.textContent = when;
    for (const [place, value] of values.entries()) value.textContent = cells[place];
    cursor.setAttribute('transform', `translate(${chosen} 0)`);
    cursor.classList.toggle('on', isPointedAt);
    const series = cells.map((cell, place) => `${names[place]?.textContent ?? ''} ${cell}`.trim());
    plot.setAttribute('aria-valuenow', chosen);
    plot.setAttribute('aria-valuetext', `${when}: ${series.join(', ')}`);
  };

  plot.setAttribute('role', 'slider');
  plot.setAttribute('aria-labelledby', figure.querySelector('h3').id);
  plot.setAttribute('tabindex', '0');
  plot.setAttribute('aria-valuemin', '0');
  plot.setAttribute('aria-valuemax', last);
  tell(first, false);

  drawing.addEventListener('pointermove', (event) => {
    const { left, width } = drawing.getBoundingClientRect();
    tell(Math.floor(((event.clientX - left) / width) * rows.length), true);
  });
  drawing.addEventListener('pointerleave', () => {
    const isFocused = document.activeElement === plot;
    tell(isFocused ? chosen : first, isFocused);
  });
  plot.addEventListener('focus', () => tell(chosen, true));
  plot.addEventListener('blur', () => tell(first, false));

  const steps = {
    ArrowLeft: () => chosen - 1,
    ArrowRight: () => chosen + 1,
    ArrowDown: () => chosen - 1,
    ArrowUp: () => chosen + 1,
    PageDown: () => chosen - 7,
    PageUp: () => chosen + 7,
    Home: () => 0,
    End: () => last,
  };
  plot.addEventListener('keydown', (event) => {
    const step = steps[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    tell(step(), true);
  });
}
