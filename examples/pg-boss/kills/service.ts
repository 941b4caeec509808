import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import type { Company } from '../src/queue.ts';

const LARGE = 5;

/** Services of many companies on ports of this machine: with quotas, with 2 % of faults, and with records that change. */
export class Services {
  readonly sandboxes = new Map<string, Sandbox>();
  requests = 0;
  rateLimited = 0;

  static async start(companies: number): Promise<Services> {
    const services = new Services();
    for (let index = 0; index < companies; index += 1) {
      const isLarge = index < LARGE;
      const sandbox = createSandbox({
        seed: index,
        records: isLarge ? { accounts: 1_500, products: 900, budgets: 300 } : { accounts: 30, products: 12 },
        rateLimit: { limit: 60, windowMs: 3_000 },
      });
      sandbox.onRequest(({ status }) => {
        services.requests += 1;
        if (status === 429) services.rateLimited += 1;
      });
      sandbox.faults.add({ kind: 'status', status: 503 }, { probability: 0.01 });
      sandbox.faults.add({ kind: 'disconnect', reset: true, committed: false }, { probability: 0.01 });
      await sandbox.listen();
      services.sandboxes.set(`company-${index}`, sandbox);
    }
    return services;
  }

  get companies(): Record<string, Company> {
    const entries = [...this.sandboxes].map(([tenant, { clientOptions }]) => {
      const { baseUrl, apiKey } = clientOptions;
      return [tenant, { baseUrl, apiKey }] as const;
    });
    return Object.fromEntries(entries);
  }

  /** Changes, deletes or creates a record of some company. */
  change(): void {
    const sandboxes = [...this.sandboxes.values()];
    const { store } = sandboxes[Math.floor(Math.random() * sandboxes.length)] as Sandbox;
    const collection = Math.random() < 0.5 ? store.accounts : store.products;
    const ids = collection.ids();
    const id = ids[Math.floor(Math.random() * ids.length)];
    const dice = Math.random();
    if (id === undefined || dice < 0.15) collection.insert({ name: `New ${dice}` });
    else if (dice < 0.25) collection.delete(id);
    else collection.update(id, { name: `Changed ${dice}` });
  }

  endFaults(): void {
    for (const { faults } of this.sandboxes.values()) faults.clear();
  }

  async close(): Promise<void> {
    for (const sandbox of this.sandboxes.values()) await sandbox.close();
  }
}
