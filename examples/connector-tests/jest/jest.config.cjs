// CommonJS as it is: no transform, no loader for modules.
module.exports = { testEnvironment: 'node', transform: {} };
