import OpenAI from 'openai';
import { API_KEY, type ReadAll } from '../support/client.ts';

export const readAll: ReadAll = async ({ origin, pageSize }, visit) => {
  const openai = new OpenAI({ apiKey: API_KEY, baseURL: `${origin}/v1` });
  for await (const record of openai.files.list({ limit: pageSize })) if (!visit(record)) return;
};
