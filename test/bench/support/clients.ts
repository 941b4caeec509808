/** The clients that the bench measures, by the name of the file in `clients`. */
export const clientNames = {
  undici: 'undici.request',
  fetch: 'fetch loop',
  ours: 'accounting-data-sdk, validated, by keyset (the default)',
  'ours-by-page': 'accounting-data-sdk, validated, by page',
  notion: 'notion',
  ky: 'ky loop',
  'ky-zod': 'ky + zod by hand, validated',
  stripe: 'stripe',
  openai: 'openai',
  octokit: 'octokit core + plugins',
} as const;

export type ClientName = keyof typeof clientNames;
export const allClients = Object.keys(clientNames) as ClientName[];
