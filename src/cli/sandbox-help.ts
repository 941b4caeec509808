import {
  faultConditions,
  type SandboxOptionTable,
  sandboxFaults,
  sandboxOptions,
} from 'accounting-data-sdk/testing';

/** What `--options` and `--fault` accept, for the help of `sandbox`. */
export function sandboxHelp(): string {
  // A function cannot be written as JSON.
  const { when: _, ...conditions } = faultConditions;
  return [
    'Options for --options, each with its default and its values:',
    ...optionLines(sandboxOptions),
    '',
    'Faults for --fault, each with its fields:',
    ...Object.entries(sandboxFaults).map(faultLine),
    '',
    `Match conditions of a fault: ${Object.keys(conditions).join(', ')}`,
  ].join('\n');
}

function optionLines(table: SandboxOptionTable, parent = ''): string[] {
  return Object.entries(table).flatMap(([name, option]) => {
    if ('options' in option) return optionLines(option.options, `${parent}${name}.`);
    const value = option.default === undefined ? 'none' : JSON.stringify(option.default);
    return [`  ${parent}${name}: ${value} (${option.values?.join(', ') ?? option.expected})`];
  });
}

function faultLine([kind, fields]: readonly [
  string,
  { readonly required?: object; readonly optional?: object },
]) {
  return `  ${[kind, ...Object.keys({ ...fields.required, ...fields.optional })].join(' ')}`;
}
