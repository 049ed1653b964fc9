module.exports = () => {
  throw new Error(
    'Swagger UI is not installed: stand-ins/swagger-ui-dist takes its place; call SwaggerModule.setup with `ui: false`, or remove the stand-in',
  );
};
