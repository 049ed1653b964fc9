import base from './.dependency-cruiser.mjs';
const {doNotFollow, ...rest}=base.options;
export default { forbidden: [{name:'no-folder-circles', severity:'error', scope:'folder', from:{}, to:{circular:true}}], options: {...rest, includeOnly:'^(apps|libs|clients)/[^/]+/src/', exclude:{path:'((^|/)dist/|\\.spec\\.tsx?$|\\.contract\\.ts$|\\.fixture\\.ts$|/testing/|/kafka-broker/|/s3-server/)'}} };
