import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);

const { options: strict } = ts.parseJsonConfigFileContent(
  { ...config, include: [], files: [] },
  ts.sys,
  root,
);

/** The settings of this project, which are strict. The types of Node, which no user needs, take a third of the time. */
export const options: ts.CompilerOptions = { ...strict, types: [] };

const host = ts.createCompilerHost(options);
const parsed = new Map<string, ts.SourceFile | undefined>();
const parse = host.getSourceFile.bind(host);
// Libraries and sources are the same for every program. Parsing them is most of the time of a small one.
host.getSourceFile = (file, ...how) => {
  if (file.includes('/.generated/')) return parse(file, ...how);
  if (!parsed.has(file)) parsed.set(file, parse(file, ...how));
  return parsed.get(file);
};

let last: ts.Program | undefined;

/**
 * Some files and everything that they import; `texts` replaces files, or adds some. What the program before resolved is
 * not resolved again.
 */
export function programOf(files: readonly string[], texts = new Map<string, string>()): ts.Program {
  const withTexts: ts.CompilerHost = {
    ...host,
    fileExists: (file) => texts.has(file) || host.fileExists(file),
    getSourceFile(file, version, ...how) {
      const text = texts.get(file);
      return text === undefined
        ? host.getSourceFile(file, version, ...how)
        : ts.createSourceFile(file, text, version);
    },
  };
  last = ts.createProgram(files, options, withTexts, last);
  return last;
}

/** The compiler's errors in some files of a program. */
export function errorsIn(program: ts.Program, files: readonly string[]): string[] {
  return files
    .flatMap((file) => ts.getPreEmitDiagnostics(program, program.getSourceFile(file)))
    .map(({ file, messageText }) => {
      const where = file === undefined ? '' : `${file.fileName.split('/').at(-1)}: `;
      return where + ts.flattenDiagnosticMessageText(messageText, '\n');
    });
}
