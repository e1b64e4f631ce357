/*
 * Loaded into a version before its own code: its clock stands still at COMPARE_NOW, or starts there with COMPARE_RUNS,
 * so that both versions see the same time, however long each takes. With SIGUSR2, a second passes.
 */
let start = Date.parse(process.env['COMPARE_NOW'] ?? '');
const begin = performance.now();
const runs = process.env['COMPARE_RUNS'] !== undefined;
const now = () => (runs ? start + Math.floor(performance.now() - begin) : start);

Date.now = now;
globalThis.Date = new Proxy(Date, {
  construct: (target, args: [], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as Date,
});
process.on('SIGUSR2', () => (start += 1000));
