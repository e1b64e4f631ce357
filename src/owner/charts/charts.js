// Shows a chart's values at the pointer or for the arrow keys. Without this script, charts stay static and have
// tables and links.

const line = (kind, text) => {
  const element = document.createElement(kind);
  element.textContent = text;
  return element;
};

for (const figure of document.querySelectorAll('figure.chart')) {
  const plot = figure.querySelector('.plot');
  const marks = plot.querySelector('.marks');
  const cursor = marks.querySelector('.cursor');
  // The table has every value in the reader's locale.
  const names = [...figure.querySelectorAll('.data thead th')]
    .slice(1)
    .map((head) => head.textContent);
  const rows = [...figure.querySelectorAll('.data tbody tr')];
  const first = Number(figure.dataset.first);
  const last = rows.length - 1;
  let selected = first;
  let touched;

  // Beside the drawing, whose bars are links and so may not be within a slider.
  const slider = document.createElement('div');
  slider.className = 'slider';
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.setAttribute('aria-hidden', 'true');
  plot.append(slider, tip);

  const select = (index, isShown) => {
    selected = Math.min(Math.max(index, 0), last);
    const [when, ...cells] = [...rows[selected].children].map((cell) => cell.textContent.trim());
    cursor.setAttribute('transform', `translate(${selected} 0)`);
    cursor.classList.toggle('on', isShown);
    slider.setAttribute('aria-valuenow', selected);
    slider.setAttribute(
      'aria-valuetext',
      `${when}: ${cells
        .map((cell, column) => cell && `${names[column]} ${cell}`)
        .filter(Boolean)
        .join(', ')}`,
    );
    tip.classList.toggle('on', isShown);
    if (!isShown) return;
    tip.replaceChildren(
      line('strong', when),
      ...cells.flatMap((cell, column) =>
        cell === '' ? [] : [line('span', names[column]), line('b', cell)],
      ),
    );
    const { left, width } = marks.getBoundingClientRect();
    const middle =
      left - plot.getBoundingClientRect().left + ((selected + 0.5) / rows.length) * width;
    const room = plot.clientWidth - tip.offsetWidth;
    const beside = middle + 12 > room ? middle - 12 - tip.offsetWidth : middle + 12;
    tip.style.left = `${Math.min(Math.max(beside, 0), Math.max(room, 0))}px`;
  };

  slider.setAttribute('role', 'slider');
  slider.setAttribute('aria-labelledby', figure.querySelector('h2').id);
  slider.setAttribute('tabindex', '0');
  slider.setAttribute('aria-valuemin', '0');
  slider.setAttribute('aria-valuemax', last);
  select(first, false);

  const indexAt = ({ clientX }) => {
    const { left, width } = marks.getBoundingClientRect();
    return Math.floor(((clientX - left) / width) * rows.length);
  };
  marks.addEventListener('pointermove', (event) => select(indexAt(event), true));
  marks.addEventListener('pointerleave', () => {
    const isFocused = document.activeElement === slider;
    select(isFocused ? selected : first, isFocused);
  });
  // On a touch screen, the first tap shows the values, and a second one follows the link.
  marks.addEventListener('click', (event) => {
    if (event.pointerType !== 'touch') return;
    if (touched !== indexAt(event)) event.preventDefault();
    touched = indexAt(event);
    select(touched, true);
  });
  slider.addEventListener('focus', () => select(selected, true));
  slider.addEventListener('blur', () => select(first, false));

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
  slider.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Enter') rows[selected].querySelector('a')?.click();
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    select(step(), true);
  });
}
