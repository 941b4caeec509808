/// <reference types="vite/client" />

declare module 'playground-types' {
  const files: Readonly<Record<string, string>>;
  export default files;
}

declare module 'playground-snippets' {
  const programs: Readonly<Record<string, string>>;
  export default programs;
}
