/** The clients that the bench measures, by the name of the file in `clients`. */
export const clientNames = {
  fetch: 'fetch loop',
  ours: 'accounting-data-sdk, validated, by keyset (the default)',
  'ours-by-page': 'accounting-data-sdk, validated, by page',
  notion: 'notion',
  ky: 'ky loop',
  stripe: 'stripe',
  openai: 'openai',
} as const;

export type ClientName = keyof typeof clientNames;
export const allClients = Object.keys(clientNames) as ClientName[];
