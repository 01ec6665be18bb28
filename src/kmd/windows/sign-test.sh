#!/bin/sh
# SPDX-License-Identifier: MIT
# Test-signs the drivers of a package, here or where they were built: osslsigncode and openssl.   sign-test.sh [PACKAGE_FOLDER]
# Windows 7 loads them once it is in test mode ("bcdedit /set testsigning on") and aerogpu-test.cer is among its trusted roots and
# publishers ("certutil -addstore Root aerogpu-test.cer", the same for TrustedPublisher). SHA-1, for a Windows 7 without updates
# knows no other. The catalogue that makecat makes of aerogpu.cdf is signed too, if it is there.
set -eu
cd "${1:-$(dirname "$0")}"
if ! [ -f aerogpu-test.key ]; then
    openssl req -x509 -newkey rsa:2048 -sha256 -nodes -days 3650 -subj "/CN=AeroGPU test signing" -keyout aerogpu-test.key \
        -out aerogpu-test.pem -addext keyUsage=digitalSignature -addext extendedKeyUsage=codeSigning 2>/dev/null
    openssl x509 -in aerogpu-test.pem -outform DER -out aerogpu-test.cer
fi
for file in amd64/*.sys x86/*.sys aerogpu.cat; do
    [ -f "$file" ] || continue
    osslsigncode sign -certs aerogpu-test.pem -key aerogpu-test.key -h sha1 -ph -n AeroGPU -in "$file" -out "$file.signed" >/dev/null
    mv "$file.signed" "$file"
    echo "signed $file"
done
