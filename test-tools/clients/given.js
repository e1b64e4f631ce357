/** The service to connect to. */
export const { RETENTION_URL: url, RETENTION_API_KEY: key } = process.env;

/** Writes what a client listed, and what a call gave. */
export function report(tools, result) {
  process.stdout.write(JSON.stringify({ tools, result }));
}
