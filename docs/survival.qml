// SPDX-License-Identifier: MIT
// For docs/survival.toml: a square that turns.
import QtQuick

Window {
    visible: true
    width: 300
    height: 200
    Rectangle {
        anchors.centerIn: parent
        width: 100
        height: 100
        color: "red"
        RotationAnimation on rotation { from: 0; to: 360; duration: 2000; loops: Animation.Infinite }
    }
}
