import type { Sql } from './database.ts';
import { Sockets } from './sockets.ts';

interface Generation {
  /** To be called when a connection was closed, by whichever side. */
  lost(): void;
  readonly sockets: Sockets;
}

/**
 * Connections that are made anew, all of them, once one was closed. The driver (3.4.9) may be left with
 * half a write of the closed one; then it never sends anything again, and each attempt to connect ends
 * in its time-out.
 * @param open makes connections; called again for each generation of them
 * @param isImpatient whether what waits for the old ones is refused, or may come to its end
 */
export function renewed(open: (generation: Generation) => Sql, isImpatient: boolean): Sql {
  let isOver = false;
  const begin = (): Sql => {
    const sockets = new Sockets();
    const mine = open({
      sockets,
      lost() {
        if (isOver || mine !== current) return;
        current = begin();
        void abandon();
      },
    });
    const abandon = async () => {
      await mine.end(isImpatient ? { timeout: 0 } : {});
      // An attempt to connect that had begun would go on.
      sockets.cut();
    };
    return mine;
  };
  let current = begin();

  const end: Sql['end'] = (options) => {
    isOver = true;
    return current.end(options);
  };
  return new Proxy(current, {
    apply: (_first, self, parts) => Reflect.apply(current, self, parts),
    get: (_first, name) => (name === 'end' ? end : Reflect.get(current, name)),
  });
}
