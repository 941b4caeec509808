import Stripe from 'stripe';
import { API_KEY, type ReadAll } from '../support/client.ts';

export const readAll: ReadAll = async ({ origin, pageSize }, visit) => {
  const { hostname, port } = new URL(origin);
  const stripe = new Stripe(API_KEY, { protocol: 'http', host: hostname, port, telemetry: false });
  for await (const record of stripe.products.list({ limit: pageSize })) if (!visit(record)) return;
};
