/** A number with what it counts: `1 row`, `12,345 rows`. */
export function counted(count: number, thing: string): string {
  return `${numberOf(count)} ${thing}${count === 1 ? '' : 's'}`;
}

/** `12,345` */
export function numberOf(value: number): string {
  return value.toLocaleString('en-US');
}
