import base from './.dependency-cruiser.mjs';
export default { forbidden: [{name:'no-folder-circles', severity:'error', scope:'folder', from:{}, to:{circular:true}}], options: {...base.options, exclude:{path:'((^|/)dist/|\\.spec\\.tsx?$|\\.contract\\.ts$|\\.fixture\\.ts$|/testing/|/kafka-broker/|/s3-server/)'}} };
