/** Of this package: as in its package.json, which edge runtimes cannot read. */
export const version = '1.0.0';
