/** `style.css` as text. */
declare module 'window-style' {
  const text: string;
  export default text;
}

/** The doc comments of the tables of faults, conditions and options, by name: see `build.ts`. */
declare module 'table-docs' {
  export const kinds: Readonly<Record<string, string>>;
  /** By kind and field, such as `delay.ms`. */
  export const fields: Readonly<Record<string, string>>;
  export const conditions: Readonly<Record<string, string>>;
  export const options: Readonly<Record<string, string>>;
}
