import type { PostgresConnection } from 'accounting-data-sdk/targets';

export async function rows<Row>(
  connection: PostgresConnection,
  text: string,
  values: readonly string[] = [],
): Promise<readonly Row[]> {
  const result = await connection.query(text, [...values]);
  return ('rows' in result ? result.rows : result) as readonly Row[];
}

export async function createTable(
  connection: PostgresConnection,
  name: string,
  columns: string,
): Promise<void> {
  const [found] = await rows<{ name: unknown }>(connection, 'SELECT to_regclass($1) AS name', [name]);
  if (found?.name !== null) return;
  try {
    await connection.query(`CREATE TABLE IF NOT EXISTS ${name} (${columns})`);
  } catch (error) {
    // Two machines that start together cannot both create it, even with IF NOT EXISTS.
    if (!['23505', '42P07'].includes((error as { code?: string }).code ?? '')) throw error;
  }
}
