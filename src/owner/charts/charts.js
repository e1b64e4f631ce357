// Shows a chart's values at the pointer or for the arrow keys. Without this script, charts stay static and have
// tables and links.

const line = (kind, text) => {
  const element = document.createElement(kind);
  element.textContent = text;
  return element;
};

/**
 * @param plot holds the drawing, beside which the values are shown
 * @param label the id of what names it
 * @param names of the values
 * @param times each with its values, in the reader's locale; empty for none
 * @param first is selected first
 * @param open follows the link of a time, if there is one
 */
function explore({ plot, label, names, times, first, open }) {
  const marks = plot.querySelector('.marks');
  const cursor = marks.querySelector('.cursor');
  const last = times.length - 1;
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
    const [when, ...values] = times[selected];
    const known = values.map((value, of) => [names[of], value]).filter(([, value]) => value);
    cursor.setAttribute('transform', `translate(${selected} 0)`);
    cursor.classList.toggle('on', isShown);
    slider.setAttribute('aria-valuenow', selected);
    slider.setAttribute(
      'aria-valuetext',
      `${when}: ${known.map((each) => each.join(' ')).join(', ')}`,
    );
    tip.classList.toggle('on', isShown);
    if (!isShown) return;
    tip.replaceChildren(
      line('strong', when),
      ...known.flatMap(([name, value]) => [line('span', name), line('b', value)]),
    );
    const { left, width } = marks.getBoundingClientRect();
    const middle =
      left - plot.getBoundingClientRect().left + ((selected + 0.5) / times.length) * width;
    const room = plot.clientWidth - tip.offsetWidth;
    const beside = middle + 12 > room ? middle - 12 - tip.offsetWidth : middle + 12;
    tip.style.left = `${Math.min(Math.max(beside, 0), Math.max(room, 0))}px`;
  };

  slider.setAttribute('role', 'slider');
  slider.setAttribute('aria-labelledby', label);
  slider.setAttribute('tabindex', '0');
  slider.setAttribute('aria-valuemin', '0');
  slider.setAttribute('aria-valuemax', last);
  select(first, false);

  const indexAt = ({ clientX }) => {
    const { left, width } = marks.getBoundingClientRect();
    return Math.floor(((clientX - left) / width) * times.length);
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
    if (event.key === 'Enter') open(selected);
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    select(step(), true);
  });
}

const textsOf = (row) => [...row.children].map((cell) => cell.textContent.trim());

for (const figure of document.querySelectorAll('figure.chart')) {
  const rows = [...figure.querySelectorAll('.data tbody tr')];
  explore({
    plot: figure.querySelector('.plot'),
    label: figure.querySelector('h2').id,
    names: textsOf(figure.querySelector('.data thead tr')).slice(1),
    times: rows.map(textsOf),
    first: Number(figure.dataset.first),
    open: (index) => rows[index].querySelector('a')?.click(),
  });
}

for (const plot of document.querySelectorAll('.hero')) {
  const [times, now, before] = [
    plot.parentElement.dataset.times,
    plot.dataset.now,
    plot.dataset.before,
  ].map((texts) => texts.split('|'));
  const link = plot.querySelector('a.row');
  explore({
    plot,
    label: link.id,
    names: [link.textContent, 'Before'],
    times: times.map((time, index) => [time, now[index], before[index]]),
    first: times.length - 1,
    open: () => link.click(),
  });
}
