/** A compact set of numbers, 8 bytes each. Add all of them before looking any up. */
export class SortedIds {
  #ids = new Float64Array(1024);
  #count = 0;
  #isSorted = true;

  get count(): number {
    return this.#count;
  }

  add(id: number): void {
    if (this.#count === this.#ids.length) {
      const larger = new Float64Array(Math.ceil(this.#count * 1.5));
      larger.set(this.#ids);
      this.#ids = larger;
    }
    this.#ids[this.#count] = id;
    this.#count += 1;
    this.#isSorted = false;
  }

  has(id: number): boolean {
    if (!this.#isSorted) {
      this.#ids = this.#ids.subarray(0, this.#count).toSorted();
      this.#isSorted = true;
    }
    let [low, high] = [0, this.#count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ids[middle] as number) < id) low = middle + 1;
      else high = middle;
    }
    return low < this.#count && this.#ids[low] === id;
  }
}
