// Shows a chart's value under the pointer or for the arrow keys. Without this script, charts stay static
// and have tables.
for (const figure of document.querySelectorAll('figure.chart')) {
  const plot = figure.querySelector('.plot');
  const drawing = plot.querySelector('svg');
  const cursor = drawing.querySelector('.cursor');
  const readout = figure.querySelector('.readout');
  const time = readout.querySelector('.time');
  const values = [...readout.querySelectorAll('b')];
  const names = [...readout.querySelectorAll('.name')];
  // The table has every value in the reader's locale.
  const rows = [...figure.querySelectorAll('tbody tr')];
  const first = Number(figure.dataset.first);
  const last = rows.length - 1;
  let selected = first;

  const select = (index, isPointedAt) => {
    selected = Math.min(Math.max(index, 0), last);
    const [when, ...cells] = [...rows[selected].children].map((cell) => cell.textContent.trim());
    time.textContent = when;
    for (const [column, value] of values.entries()) value.textContent = cells[column];
    cursor.setAttribute('transform', `translate(${selected} 0)`);
    cursor.classList.toggle('on', isPointedAt);
    const series = cells.map((cell, column) =>
      `${names[column]?.textContent ?? ''} ${cell}`.trim(),
    );
    plot.setAttribute('aria-valuenow', selected);
    plot.setAttribute('aria-valuetext', `${when}: ${series.join(', ')}`);
  };

  plot.setAttribute('role', 'slider');
  plot.setAttribute('aria-labelledby', figure.querySelector('h3').id);
  plot.setAttribute('tabindex', '0');
  plot.setAttribute('aria-valuemin', '0');
  plot.setAttribute('aria-valuemax', last);
  select(first, false);

  drawing.addEventListener('pointermove', (event) => {
    const { left, width } = drawing.getBoundingClientRect();
    select(Math.floor(((event.clientX - left) / width) * rows.length), true);
  });
  drawing.addEventListener('pointerleave', () => {
    const isFocused = document.activeElement === plot;
    select(isFocused ? selected : first, isFocused);
  });
  plot.addEventListener('focus', () => select(selected, true));
  plot.addEventListener('blur', () => select(first, false));

  const steps = {
    ArrowLeft: () => selected - 1,
    ArrowRight: () => selected + 1,
    ArrowDown: () => selected - 1,
    ArrowUp: () => selected + 1,
    PageDown: () => selected - 7,
    PageUp: () => selected + 7,
    Home: () => 0,
    End: () => last,
  };
  plot.addEventListener('keydown', (event) => {
    const step = steps[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    select(step(), true);
  });
}
