/** Keys to look for: one as most are, and one that looks different in a URL and in JSON. */
export const CANARIES = ['canary-7f3a9c1e', `c4n/ry+"7f\\3a'9c=%1e`] as const;

/** The ways in which a canary may stand in a text. */
export const formsOf = (canary: string) => [
  canary,
  encodeURIComponent(canary),
  encodeURIComponent(canary).toLowerCase(),
  JSON.stringify(canary).slice(1, -1),
];

/** Headers in which a service may echo the key. */
export const echoHeaders = (canary: string) => ({
  'x-request-id': `r-${canary}`,
  'request-id': canary,
  'x-correlation-id': canary,
  'x-trace-id': canary,
  sunset: canary,
  deprecation: `"${encodeURIComponent(canary)}"`,
  'x-auth-token': canary,
});

/** Members of a problem document in which a service may echo the key. */
export const echoMembers = (canary: string) => ({
  title: `No access for ${canary}`,
  detail: `The key "${canary}" was rejected; the body was ${JSON.stringify({ key: canary })}`,
  instance: `/sign-in?token=${encodeURIComponent(canary)}`,
  violations: [{ propertyPath: canary, message: `not ${canary}`, code: canary }],
  trace: [{ args: { [canary]: `X-AUTH-TOKEN: ${canary}` }, url: encodeURIComponent(canary).toLowerCase() }],
});
