exports.parsePhoneNumber = () => {
  throw new Error(
    'phone numbers cannot be validated: stand-ins/libphonenumber-js takes the place of libphonenumber-js; remove it first',
  );
};
