/** Where version 1 of the REST API begins; the paths of the operations follow. */
export const restBasePath = '/api/external/v1';

/** Operations that are also reached without a version, for ever: path below the base, whole path. */
export const restAliases: Readonly<Record<string, string>> = {
  '/entitlements': '/api/external/entitlements',
};
